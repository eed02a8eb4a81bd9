#include "manager/object/testing/kubernetes_types.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <utility>

#include "google/protobuf/descriptor.pb.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/json_walker.h"

namespace mandate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr char kMeta[] = "k8s.io.apimachinery.pkg.apis.meta.v1";

// A test without its data must fail.
[[noreturn]] void Die(const std::string& why) {
  std::cerr << why << "\n";
  std::abort();
}

FileDescriptorSet ReadDescriptors(const std::string& path) {
  FileDescriptorSet set;
  std::ifstream in(path, std::ios::binary);
  if (!set.ParseFromIstream(&in) || set.file().empty()) Die("no descriptors in " + path);
  return set;
}

void KeepOnlyMetadata(DescriptorProto& message) {
  for (const auto& field : message.field()) {
    if (field.name() != "metadata" || !field.type_name().ends_with(".ObjectMeta")) continue;
    const auto metadata = field;
    message.clear_field();
    *message.add_field() = metadata;
    return;
  }
}

bool IsZero(const Message& message, const FieldDescriptor& field) {
  const Reflection& r = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r.GetInt32(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_INT64:
      return r.GetInt64(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_BOOL:
      return !r.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r.GetDouble(message, &field) == 0;
    case FieldDescriptor::CPPTYPE_STRING:
      return r.GetString(message, &field).empty();
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const Message& value = r.GetMessage(message, &field);
      std::vector<const FieldDescriptor*> set;
      value.GetReflection()->ListFields(value, &set);
      return set.empty() && value.GetReflection()->GetUnknownFields(value).empty();
    }
    default:
      return false;
  }
}

// Gives all messages with this hook and the same meaning the same form.
void Canonicalise(JsonHook hook, Message& message) {
  const Reflection& r = *message.GetReflection();
  const FieldDescriptor* first = message.GetDescriptor()->FindFieldByNumber(1);
  if (hook == JsonHook::kTime) {
    // Go neither writes nor reads a Time's nanoseconds.
    r.ClearField(&message, message.GetDescriptor()->FindFieldByNumber(2));
  } else if (hook == JsonHook::kEmbedded) {
    if (const auto json = ParseJson(r.GetString(message, first)); json.ok()) {
      r.SetString(&message, first, WriteJson(*json));
    }
  }
}

}  // namespace

std::string KubernetesRoot(std::string_view repository) { return StrCat("../", repository); }

const KubernetesTypes& KubernetesTypes::Of(std::string_view repository, bool only_metadata) {
  static auto& loaded =
      *new std::map<std::pair<std::string, bool>, std::unique_ptr<KubernetesTypes>>;
  auto& types = loaded[{std::string(repository), only_metadata}];
  if (types == nullptr) {
    types = std::make_unique<KubernetesTypes>(KubernetesRoot(repository), only_metadata);
  }
  return *types;
}

KubernetesTypes::KubernetesTypes(const std::string& root, bool only_metadata)
    : go_fields_(ReadAllGoFields(root)),
      group_packages_(ReadGroupPackages(root)),
      factory_(&pool_) {
  FileDescriptorSet set = ReadDescriptors(root + "/descriptors.binpb");
  for (FileDescriptorProto& file : *set.mutable_file()) {  // imported files come first
    if (only_metadata) {
      for (DescriptorProto& message : *file.mutable_message_type()) KeepOnlyMetadata(message);
    }
    const FileDescriptor* built = pool_.BuildFile(file);
    if (built == nullptr) Die("cannot build " + file.name());
    files_.push_back(built);
  }
}

const Descriptor* KubernetesTypes::Find(std::string_view api_version, std::string_view kind) const {
  const KindInfo info = KindInfoOf(api_version, kind);
  const auto group = group_packages_.find(std::string(info.group));
  const Descriptor* type = nullptr;
  if (group != group_packages_.end()) {
    type = pool_.FindMessageTypeByName(StrCat(group->second, ".", info.version, ".", kind));
  }
  // Kinds of the API machinery, such as Status, exist in every group.
  return type != nullptr ? type : pool_.FindMessageTypeByName(StrCat(kMeta, ".", kind));
}

std::unique_ptr<Message> KubernetesTypes::New(const Descriptor& type) const {
  return std::unique_ptr<Message>(factory_.GetPrototype(&type)->New());
}

absl::StatusOr<std::string> KubernetesTypes::ToJson(const Message& message,
                                                    const KindInfo* kind) const {
  std::string out;
  const absl::Status status = EncodeJson(*plans_.Of(*message.GetDescriptor()), message, kind, out);
  if (!status.ok()) return status;
  return out;
}

absl::Status KubernetesTypes::FromJson(std::string_view json, Message& out,
                                       const FromJsonOptions& options) const {
  out.Clear();
  return DecodeJson(*plans_.Of(*out.GetDescriptor()), json, options, out);
}

void KubernetesTypes::DropZeros(Message& message) const {
  const MessagePlan& plan = *plans_.Of(*message.GetDescriptor());
  if (plan.hook != JsonHook::kNone) return Canonicalise(plan.hook, message);
  const Reflection& r = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  r.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (field->is_map()) {
      const FieldDescriptor* value = field->message_type()->map_value();
      if (value->message_type() == nullptr) continue;
      for (int i = 0; i < r.FieldSize(message, field); ++i) {
        Message* entry = r.MutableRepeatedMessage(&message, field, i);
        DropZeros(*entry->GetReflection()->MutableMessage(entry, value));
      }
    } else if (field->is_repeated()) {
      for (int i = 0; is_message && i < r.FieldSize(message, field); ++i) {
        DropZeros(*r.MutableRepeatedMessage(&message, field, i));
      }
    } else {
      if (is_message) DropZeros(*r.MutableMessage(&message, field));
      const auto go = go_fields_.find({message.GetTypeName(), field->number()});
      const bool pointer = go != go_fields_.end() && go->second.pointer;
      if (!pointer && IsZero(message, *field)) r.ClearField(&message, field);
    }
  }
}

void KubernetesTypes::ForEachMessage(const std::function<void(const Descriptor&)>& visit) const {
  for (const FileDescriptor* file : files_) {
    for (int i = 0; i < file->message_type_count(); ++i) visit(*file->message_type(i));
  }
}

KindInfo KindInfoOf(std::string_view api_version, std::string_view kind) {
  const size_t slash = api_version.find('/');
  KindInfo info;
  if (slash != std::string_view::npos) info.group = api_version.substr(0, slash);
  info.version = api_version.substr(slash + 1);  // npos + 1 is 0
  info.kind = kind;
  return info;
}

}  // namespace mandate
