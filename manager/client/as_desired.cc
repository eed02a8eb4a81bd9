#include "manager/client/as_desired.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "k8s.io/apimachinery/pkg/api/resource/generated.pb.h"
#include "manager/client/object_meta.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/apply.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/quantity.h"

namespace mandate {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using QuantityProto = k8s::io::apimachinery::pkg::api::resource::Quantity;

// Gives each quantity the one text that its value has.
void NormalizeQuantities(Message& message) {
  if (message.GetDescriptor() == QuantityProto::descriptor()) {
    auto& quantity = static_cast<QuantityProto&>(message);
    const auto value = Quantity::Parse(quantity.string());
    if (value.ok()) quantity.set_string(absl::StrFormat("%dn", value->nanos()));
    return;
  }
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      NormalizeQuantities(*reflection.MutableMessage(&message, field));
      continue;
    }
    // A map is a list of entries here.
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      NormalizeQuantities(*reflection.MutableRepeatedMessage(&message, field, i));
    }
  }
}

std::unique_ptr<Message> Normalized(const Message& object) {
  std::unique_ptr<Message> copy(object.New());
  copy->CopyFrom(object);
  NormalizeQuantities(*copy);
  return copy;
}

// What an apply of `desired` would own, without the members that name the object.
absl::StatusOr<Json::Value> OwnedPart(const KindInfo& kind, const Message& desired) {
  const std::unique_ptr<Message> copy = Normalized(desired);
  ASSIGN_OR_RETURN(const std::string body, ApplyBody(*copy, kind));
  ASSIGN_OR_RETURN(Json::Value part, ParseJson(body));
  part.removeMember("apiVersion");
  part.removeMember("kind");
  for (const char* member : {"name", "namespace", "uid", "resourceVersion"}) {
    part["metadata"].removeMember(member);
  }
  if (part["metadata"].empty()) part.removeMember("metadata");
  return part;
}

// The paths that `manager` owns; null if they are not those of one apply in this version.
Json::Value PathsOf(const ObjectMeta& metadata, const KindInfo& kind, std::string_view manager) {
  Json::Value paths;
  for (const auto& entry : metadata.managedfields()) {
    if (entry.manager() != manager || !entry.subresource().empty()) continue;
    const bool usable =
        paths.isNull() && entry.operation() == "Apply" && entry.apiversion() == kind.ApiVersion();
    if (!usable) return Json::nullValue;
    paths = ParseJson(entry.fieldsv1().raw()).value_or(Json::Value());
    if (!paths.isObject()) return Json::nullValue;
  }
  return paths;
}

// The item of a list with these keys. An apply may omit a key that has a default, such as the
// protocol of a port.
const Json::Value* Find(const Json::Value& list, const Json::Value& keys, bool may_omit) {
  if (!list.isArray()) return nullptr;
  for (const Json::Value& item : list) {
    bool same = true;
    for (auto key = keys.begin(); same && key != keys.end(); ++key) {
      const Json::Value* value = FindMember(item, key.name());
      same = value == nullptr ? may_omit : *value == *key;
    }
    if (same) return &item;
  }
  return nullptr;
}

// The part of `in` at one step of a path, such as "f:image", "k:{\"name\":\"a\"}" or "v:\"a\"".
// Null if `in` does not have it.
const Json::Value* At(const Json::Value& in, std::string_view step, bool may_omit) {
  if (step.starts_with("f:")) return FindMember(in, step.substr(2));
  const auto value = ParseJson(step.substr(std::min<size_t>(step.size(), 2)));
  if (!value.ok() || !in.isArray()) return nullptr;
  if (step.starts_with("v:")) {
    for (const Json::Value& item : in) {
      if (item == *value) return &item;
    }
    return nullptr;
  }
  if (!step.starts_with("k:") || !value->isObject()) return nullptr;
  const Json::Value* exact = Find(in, *value, /*may_omit=*/false);
  return exact != nullptr || !may_omit ? exact : Find(in, *value, /*may_omit=*/true);
}

// Whether `list` has these items, which are its own, in this order: an apply sets the order, too.
bool HasInOrder(const Json::Value& list,
                const std::map<Json::ArrayIndex, const Json::Value*>& items) {
  Json::ArrayIndex at = 0;
  for (const auto& [order, item] : items) {
    while (at < list.size() && &list[at] != item) ++at;
    if (at == list.size()) return false;
  }
  return true;
}

// Whether `want` has exactly the owned paths, and `have` has the same values there.
bool Holds(const Json::Value& owned, const Json::Value& want, const Json::Value& have) {
  // A leaf, or a part that is owned as a whole. It may be empty now and not before, such as the
  // selector of a NetworkPolicy.
  if (owned.empty()) return want == have;
  Json::ArrayIndex steps = 0;
  std::map<Json::ArrayIndex, const Json::Value*> items;  // of `have`, by their place in `want`
  for (auto step = owned.begin(); step != owned.end(); ++step) {
    if (step.name() == ".") continue;
    const Json::Value* wanted = At(want, step.name(), /*may_omit=*/true);
    const Json::Value* present = At(have, step.name(), /*may_omit=*/false);
    if (wanted == nullptr || present == nullptr || !Holds(*step, *wanted, *present)) return false;
    ++steps;
    for (Json::ArrayIndex i = 0; want.isArray() && i < want.size(); ++i) {
      if (&want[i] == wanted) items[i] = present;
    }
  }
  return steps == want.size() && (!want.isArray() || HasInOrder(have, items));
}

}  // namespace

bool IsAsDesired(const KindInfo& kind, const Message& observed, const Message& desired,
                 std::string_view manager) {
  const Json::Value owned = PathsOf(MetadataOf(observed), kind, manager);
  if (!owned.isObject()) return false;
  const auto want = OwnedPart(kind, desired);
  const auto have = ToJson(*Normalized(observed));
  if (!want.ok() || !have.ok()) return false;
  const auto read = ParseJson(*have);
  return read.ok() && Holds(owned, *want, *read);
}

}  // namespace mandate
