#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "manager/core/printable.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_text.h"
#include "manager/object/json_walker.h"

namespace mandate {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Writes the commas between an object's members, which may come from several messages.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }
  void Key(std::string_view key) {
    if (!std::exchange(first_, false)) out_ += ',';
    AppendJsonString(key, out_);
    out_ += ':';
  }
  void End() { out_ += '}'; }
  std::string& out() { return out_; }

 private:
  std::string& out_;
  bool first_ = true;
};

// An error from inside a field, with the field's name before its path.
absl::Status Within(std::string_view name, const absl::Status& status) {
  const std::string_view inner = AsStd(status.message());
  const bool is_path = inner.starts_with('.') || inner.starts_with('[');
  return absl::Status(status.code(), StrCat(".", name, is_path ? "" : ": ", inner));
}

absl::Status EncodeMembers(const MessagePlan& plan, const Message& message, Members& members);

absl::Status EncodeMessage(const MessagePlan& plan, const Message& message, std::string& out) {
  if (plan.hook != JsonHook::kNone) return EncodeHook(plan.hook, message, out);
  Members members(out);
  RETURN_IF_ERROR(EncodeMembers(plan, message, members));
  members.End();
  return absl::OkStatus();
}

void AppendBytes(std::string_view bytes, std::string& out) {
  out += '"';
  out += absl::Base64Escape(AsAbsl(bytes));
  out += '"';
}

// The value of a singular field, or element `index` of a repeated one.
absl::Status EncodeValue(const FieldPlan& plan, const Message& message, int index,
                         std::string& out) {
  const Reflection& r = *message.GetReflection();
  const FieldDescriptor* f = plan.field;
  const bool repeated = f->is_repeated();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      StrAppend(&out, repeated ? r.GetRepeatedInt32(message, f, index) : r.GetInt32(message, f));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      StrAppend(&out, repeated ? r.GetRepeatedInt64(message, f, index) : r.GetInt64(message, f));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      StrAppend(&out, repeated ? r.GetRepeatedUInt32(message, f, index) : r.GetUInt32(message, f));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      StrAppend(&out, repeated ? r.GetRepeatedUInt64(message, f, index) : r.GetUInt64(message, f));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      AppendJsonDouble(repeated ? r.GetRepeatedDouble(message, f, index) : r.GetDouble(message, f),
                       out);
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      AppendJsonDouble(repeated ? r.GetRepeatedFloat(message, f, index) : r.GetFloat(message, f),
                       out);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      out += (repeated ? r.GetRepeatedBool(message, f, index) : r.GetBool(message, f)) ? "true"
                                                                                       : "false";
      break;
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      const std::string& value = repeated
                                     ? r.GetRepeatedStringReference(message, f, index, &scratch)
                                     : r.GetStringReference(message, f, &scratch);
      f->type() == FieldDescriptor::TYPE_BYTES ? AppendBytes(value, out)
                                               : AppendJsonString(value, out);
      break;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return EncodeMessage(
          *plan.message,
          repeated ? r.GetRepeatedMessage(message, f, index) : r.GetMessage(message, f), out);
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::InvalidArgumentError("enums are not supported; make the field a string");
  }
  return absl::OkStatus();
}

absl::Status EncodeList(const FieldPlan& plan, const Message& message, std::string& out) {
  out += '[';
  const int size = message.GetReflection()->FieldSize(message, plan.field);
  for (int i = 0; i < size; ++i) {
    if (i > 0) out += ',';
    if (absl::Status status = EncodeValue(plan, message, i, out); !status.ok()) {
      const std::string_view inner = AsStd(status.message());
      return absl::Status(status.code(),
                          StrCat("[", i, "]", inner.starts_with('.') ? "" : ": ", inner));
    }
  }
  out += ']';
  return absl::OkStatus();
}

// Sorted by key, so that the same message always gives the same text. A key that JSON had twice is
// here twice until protobuf makes a map of the entries; the last entry counts, as in the map.
absl::Status EncodeMap(const FieldPlan& plan, const Message& message, std::string& out) {
  const Reflection& r = *message.GetReflection();
  const FieldDescriptor* key = plan.field->message_type()->map_key();
  FieldPlan value = plan;
  value.field = plan.field->message_type()->map_value();
  std::vector<std::pair<std::string, const Message*>> entries;
  for (int i = 0; i < r.FieldSize(message, plan.field); ++i) {
    const Message& entry = r.GetRepeatedMessage(message, plan.field, i);
    entries.emplace_back(entry.GetReflection()->GetString(entry, key), &entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Members members(out);
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& [name, entry] = entries[i];
    if (i + 1 < entries.size() && entries[i + 1].first == name) continue;
    members.Key(name);
    if (absl::Status status = EncodeValue(value, *entry, 0, out); !status.ok()) {
      return Within(name, status);
    }
  }
  members.End();
  return absl::OkStatus();
}

absl::Status EncodeField(const FieldPlan& plan, const Message& message, Members& members) {
  const Reflection& r = *message.GetReflection();
  if (plan.field->is_repeated()) {
    if (r.FieldSize(message, plan.field) == 0) return absl::OkStatus();
    members.Key(plan.json_name);
    return plan.field->is_map() ? EncodeMap(plan, message, members.out())
                                : EncodeList(plan, message, members.out());
  }
  if (!r.HasField(message, plan.field)) return absl::OkStatus();
  if (plan.message != nullptr &&
      HookIsNull(plan.message->hook, r.GetMessage(message, plan.field))) {
    return absl::OkStatus();
  }
  members.Key(plan.json_name);
  return EncodeValue(plan, message, 0, members.out());
}

absl::Status EncodeMembers(const MessagePlan& plan, const Message& message, Members& members) {
  for (const FieldPlan& field : plan.fields) {
    if (!field.flattened) {
      if (absl::Status status = EncodeField(field, message, members); !status.ok()) {
        return Within(field.json_name, status);
      }
    } else if (message.GetReflection()->HasField(message, field.field)) {
      RETURN_IF_ERROR(EncodeMembers(
          *field.message, message.GetReflection()->GetMessage(message, field.field), members));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status EncodeJson(const MessagePlan& plan, const Message& message, const KindInfo* kind,
                        std::string& out) {
  if (plan.hook != JsonHook::kNone) return EncodeHook(plan.hook, message, out);
  Members members(out);
  if (kind != nullptr) {
    members.Key("apiVersion");
    AppendJsonString(kind->ApiVersion(), out);
    members.Key("kind");
    AppendJsonString(kind->kind, out);
  }
  RETURN_IF_ERROR(EncodeMembers(plan, message, members));
  members.End();
  return absl::OkStatus();
}

}  // namespace mandate
