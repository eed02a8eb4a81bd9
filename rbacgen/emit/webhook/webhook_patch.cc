#include "rbacgen/emit/webhook/webhook_patch.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "k8s.io/api/admissionregistration/v1/generated.pb.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_codec.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

namespace admissionregistration = k8s::io::api::admissionregistration::v1;

// OK if the JSON has only fields of the message, with the right types.
template <class Message>
absl::Status CheckTypes(std::string_view json) {
  Message message;
  return FromJson(json, message, {.strict = true});
}

absl::Status CheckTypes(std::string_view json, bool mutating) {
  return mutating ? CheckTypes<admissionregistration::MutatingWebhook>(json)
                  : CheckTypes<admissionregistration::ValidatingWebhook>(json);
}

absl::Status CheckDirectives(const Json::Value& patch) {
  if (patch.isArray()) {
    for (const Json::Value& item : patch) RETURN_IF_ERROR(CheckDirectives(item));
  }
  if (!patch.isObject()) return absl::OkStatus();
  for (const std::string& name : patch.getMemberNames()) {
    if (name.starts_with('$')) {
      return absl::InvalidArgumentError(
          StrCat("directive ", Quoted(name),
                 " is not supported here; use the arguments of the marker instead"));
    }
    RETURN_IF_ERROR(CheckDirectives(patch[name]));
  }
  return absl::OkStatus();
}

void Merge(const Json::Value& patch, Json::Value* object);

// Merges the items by name. Items without a name are reported elsewhere, so their result does not
// matter.
void MergeByName(const Json::Value& patch, Json::Value* list) {
  for (const Json::Value& item : patch) {
    Json::Value* known = nullptr;
    for (Json::Value& candidate : *list) {
      if (candidate["name"] == item["name"]) known = &candidate;
    }
    if (known == nullptr) {
      list->append(item);
    } else {
      Merge(item, known);
    }
  }
}

void Merge(const Json::Value& patch, Json::Value* object) {
  for (const std::string& name : patch.getMemberNames()) {
    const Json::Value& change = patch[name];
    if (change.isNull()) {
      object->removeMember(name);
    } else if (change.isObject()) {
      if (!object->isMember(name)) (*object)[name] = Json::objectValue;
      Merge(change, &(*object)[name]);
    } else if (name == "matchConditions" && change.isArray()) {
      MergeByName(change, &(*object)[name]);
    } else {
      (*object)[name] = change;
    }
  }
}

}  // namespace

absl::StatusOr<Json::Value> PatchWebhook(Json::Value webhook, std::string_view patch,
                                         bool mutating) {
  if (patch.empty()) return webhook;
  ASSIGN_OR_RETURN(const Json::Value change, ParseJson(patch));
  if (!change.isObject()) {
    return absl::InvalidArgumentError("must be a JSON object, such as {\"timeoutSeconds\":25}");
  }
  RETURN_IF_ERROR(CheckDirectives(change));
  // The patch is checked too, because a null value would hide a misspelt field name in the result.
  RETURN_IF_ERROR(CheckTypes(patch, mutating));
  Merge(change, &webhook);
  RETURN_IF_ERROR(CheckTypes(WriteJson(webhook), mutating));
  return webhook;
}

}  // namespace mandate::rbacgen
