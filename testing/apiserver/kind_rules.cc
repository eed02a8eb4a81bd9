#include "testing/apiserver/kind_rules.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/rbac_rules.h"
#include "testing/apiserver/schema.h"

namespace mandate::apiserver {
namespace {

bool Is(const ResourceType& type, std::string_view kind) {
  return type.kind == kind && !type.custom();
}

void DefaultSecret(Json::Value& object) {
  if (StringAt(object, "type").empty()) object["type"] = "Opaque";
  const Json::Value* texts = FindMember(object, "stringData");
  if (texts == nullptr) return;
  for (const std::string& key : texts->getMemberNames()) {
    object["data"][key] = absl::Base64Escape(StringAt(*texts, key));
  }
  object.removeMember("stringData");
}

void Default(Json::Value& object, const char* key, Json::Value value) {
  if (!object.isMember(key)) object[key] = std::move(value);
}

void DefaultDefinition(Json::Value& object) {
  if (!object["spec"].isObject() || !object["spec"]["names"].isObject()) return;
  Json::Value& spec = object["spec"];
  Default(spec, "conversion", Json::Value(Json::objectValue));
  Default(spec["conversion"], "strategy", "None");
  const std::string kind = StringAt(spec["names"], "kind");
  Default(spec["names"], "singular", absl::AsciiStrToLower(kind));
  Default(spec["names"], "listKind", kind + "List");
}

void CheckDefinition(const Json::Value& object, std::vector<Cause>& causes) {
  const Json::Value* spec = FindMember(object, "spec");
  const Json::Value* names = spec == nullptr ? nullptr : FindMember(*spec, "names");
  if (names == nullptr) {
    causes.push_back(RequiredField("spec.names", ""));
    return;
  }
  const std::string name = MetaString(object, "name");
  if (name != StrCat(StringAt(*names, "plural"), ".", StringAt(*spec, "group"))) {
    causes.push_back(InvalidField("metadata.name", rbac::Quote(name),
                                  R"(must be spec.names.plural+"."+spec.group)"));
  }
}

void CheckImmutableData(const Json::Value& object, const Json::Value& old,
                        std::vector<Cause>& causes) {
  const Json::Value* immutable = FindMember(old, "immutable");
  if (immutable == nullptr || !immutable->isBool() || !immutable->asBool()) return;
  if (const Json::Value* now = FindMember(object, "immutable");
      now == nullptr || !now->isBool() || !now->asBool()) {
    causes.push_back(ForbiddenField("immutable", "field is immutable when `immutable` is set"));
  }
  for (const char* field : {"data", "binaryData"}) {
    const Json::Value* before = FindMember(old, field);
    const Json::Value* now = FindMember(object, field);
    if ((before == nullptr ? Json::Value() : *before) != (now == nullptr ? Json::Value() : *now)) {
      causes.push_back(ForbiddenField(field, "field is immutable when `immutable` is set"));
    }
  }
}

// The keys of data must be file names.
void CheckDataKeys(const Json::Value& object, std::vector<Cause>& causes) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
  for (const char* field : {"data", "binaryData"}) {
    const Json::Value* data = FindMember(object, field);
    if (data == nullptr || !data->isObject()) continue;
    for (const std::string& key : data->getMemberNames()) {
      const bool valid = !key.empty() && key.size() <= 253 && key != "." && key != ".." &&
                         key.find_first_not_of(kAllowed) == key.npos;
      if (valid) continue;
      causes.push_back(InvalidField(
          StrCat(field, "[", key, "]"), rbac::Quote(key),
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
          "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
          "'[-._a-zA-Z0-9]+')"));
    }
  }
}

void CheckSecret(const Json::Value& object, std::vector<Cause>& causes) {
  constexpr char kAccount[] = "kubernetes.io/service-account.name";
  const std::string type = StringAt(object, "type");
  const Json::Value* annotations = FindMember(MetadataOf(object), "annotations");
  if (type == "kubernetes.io/service-account-token" &&
      (annotations == nullptr || StringAt(*annotations, kAccount).empty())) {
    causes.push_back(RequiredField(StrCat("metadata.annotations[", kAccount, "]"), ""));
  }
}

constexpr std::string_view kWebhooksGroup = "admissionregistration.k8s.io";

void DefaultWebhooks(const ResourceType& type, Json::Value& object) {
  for (Json::Value& webhook : object["webhooks"]) {
    const auto set = [](Json::Value& at, const char* key, Json::Value value) {
      if (at[key].isNull()) at[key] = std::move(value);
    };
    set(webhook, "failurePolicy", "Fail");
    set(webhook, "matchPolicy", "Equivalent");
    set(webhook, "namespaceSelector", Json::objectValue);
    set(webhook, "objectSelector", Json::objectValue);
    set(webhook, "timeoutSeconds", 10);
    if (type.kind == "MutatingWebhookConfiguration") set(webhook, "reinvocationPolicy", "Never");
    Json::Value& client = webhook["clientConfig"];
    if (client.isMember("service")) set(client["service"], "port", 443);
  }
  if (object["webhooks"].isNull()) object.removeMember("webhooks");
}

// Validates an update of a Namespace's status.
void CheckPhase(const Json::Value& object, std::vector<Cause>& causes) {
  const bool deleting = IsDeleting(object);
  const std::string wanted = deleting ? "Terminating" : "Active";
  const Json::Value* status = FindMember(object, "status");
  const std::string phase = status == nullptr ? "" : StringAt(*status, "phase");
  if (phase == wanted) return;
  causes.push_back(InvalidField("status.Phase", rbac::Quote(phase),
                                StrCat("may only be '", wanted, "' if `deletionTimestamp` is ",
                                       deleting ? "not " : "", "empty")));
}

void CheckLease(const Json::Value& object, std::vector<Cause>& causes) {
  const Json::Value* spec = FindMember(object, "spec");
  if (spec == nullptr) return;
  const Json::Value* duration = FindMember(*spec, "leaseDurationSeconds");
  if (duration != nullptr && duration->isInt64() && duration->asInt64() <= 0) {
    causes.push_back(InvalidField("spec.leaseDurationSeconds", std::to_string(duration->asInt64()),
                                  "must be greater than 0"));
  }
  const Json::Value* transitions = FindMember(*spec, "leaseTransitions");
  if (transitions != nullptr && transitions->isInt64() && transitions->asInt64() < 0) {
    causes.push_back(InvalidField("spec.leaseTransitions", std::to_string(transitions->asInt64()),
                                  "must be greater than or equal to 0"));
  }
}

void CheckEvent(const Json::Value& object, std::vector<Cause>& causes) {
  if (StringAt(object, "eventTime").empty()) causes.push_back(RequiredField("eventTime", ""));
  const std::string type = StringAt(object, "type");
  if (type != "Normal" && type != "Warning") {
    causes.push_back(InvalidField("type", rbac::Quote(type), StrCat("has invalid value: ", type)));
  }
}

// Restores the fields that an update of the status cannot change.
void KeepAllButStatus(const ResourceType& type, const Json::Value& old, Json::Value& object) {
  const Json::Value status = object["status"];
  const Json::Value metadata = MetadataOf(object);
  const bool has_status = !status.isNull();
  object = old;
  object.removeMember("status");
  if (has_status) object["status"] = status;
  if (!type.custom()) {
    // For built-in kinds such an update also writes metadata; labels only for Namespaces.
    const Json::Value labels = MetadataOf(old)["labels"];
    object["metadata"] = metadata;
    if (Is(type, "Namespace")) return;
    object["metadata"].removeMember("labels");
    if (!labels.isNull()) object["metadata"]["labels"] = labels;
  } else if (metadata.isMember("managedFields")) {
    object["metadata"]["managedFields"] = metadata["managedFields"];
  }
}

}  // namespace

bool HasWebhookRules(const ResourceType& type, const Json::Value& object) {
  if (!type.kind.ends_with("WebhookConfiguration")) return false;
  const Json::Value& webhooks = object["webhooks"];
  return std::any_of(webhooks.begin(), webhooks.end(),
                     [](const Json::Value& webhook) { return !webhook["rules"].empty(); });
}

bool AllowsCreateOnUpdate(const ResourceType& type) {
  return type.name.group == "rbac.authorization.k8s.io" || Is(type, "Lease") || Is(type, "Event") ||
         Is(type, "Endpoints") || Is(type, "Service");
}

bool AllowsUnconditionalUpdate(const ResourceType& type) {
  return !type.custom() && type.kind != "Lease" && type.kind != "CustomResourceDefinition" &&
         type.name.group != kWebhooksGroup;
}

void SetDefaults(const ResourceType& type, Json::Value& object) {
  if (type.custom()) {
    object = type.schema->PruneAndDefault(object);
  } else if (Is(type, "Secret")) {
    DefaultSecret(object);
  } else if (Is(type, "RoleBinding") || Is(type, "ClusterRoleBinding")) {
    DefaultBinding(object);
  } else if (Is(type, "CustomResourceDefinition")) {
    DefaultDefinition(object);
  } else if (type.name.group == kWebhooksGroup && type.kind.ends_with("WebhookConfiguration")) {
    DefaultWebhooks(type, object);
  } else if (Is(type, "Namespace") && !MetaString(object, "name").empty()) {
    MutableMetadata(object)["labels"]["kubernetes.io/metadata.name"] = MetaString(object, "name");
  }
}

void PrepareForCreate(const ResourceType& type, Json::Value& object) {
  if (type.has_status) object.removeMember("status");
  if (type.has_generation) MutableMetadata(object)["generation"] = 1;
  if (!Is(type, "Namespace")) return;
  object["status"]["phase"] = "Active";
  MutableMetadata(object)["labels"]["kubernetes.io/metadata.name"] = MetaString(object, "name");
  Json::Value& finalizers = object["spec"]["finalizers"];
  for (const Json::Value& one : finalizers) {
    if (one == Json::Value("kubernetes")) return;
  }
  finalizers.append("kubernetes");
}

void PrepareForUpdate(const ResourceType& type, std::string_view subresource,
                      const Json::Value& old, Json::Value& object) {
  if (subresource == "status") {
    KeepAllButStatus(type, old, object);
  } else if (type.has_status) {
    object.removeMember("status");
    if (old.isMember("status")) object["status"] = old["status"];
  }
  if (Is(type, "Namespace")) {
    object["spec"] = old["spec"];
    if (!object["status"].isMember("phase")) object["status"]["phase"] = "Active";
    MutableMetadata(object)["labels"]["kubernetes.io/metadata.name"] = MetaString(old, "name");
  }
  Json::Value& metadata = MutableMetadata(object);
  if (MetadataOf(old).isMember("generation")) {
    metadata["generation"] = MetadataOf(old)["generation"];
  } else {
    metadata.removeMember("generation");
  }
  if (!type.has_generation) return;
  Json::Value before = ContentOf(old);
  Json::Value now = ContentOf(object);
  if (!type.has_status) {
    before["status"] = old["status"];
    now["status"] = Json::Value(object)["status"];
  }
  if (before != now) metadata["generation"] = Json::Int64{GenerationOf(old) + 1};
}

std::vector<Cause> CheckType(const ResourceType& type, const Json::Value& object) {
  std::vector<Cause> causes;
  const auto expect = [&](const char* member, const std::string& expected) {
    const std::string given = StringAt(object, member);
    if (given == expected) return;
    causes.push_back(InvalidField(member, rbac::Quote(given), "must be " + expected));
  };
  expect("kind", type.kind);
  expect("apiVersion", type.ApiVersion());
  return causes;
}

std::vector<Cause> CheckKind(const ResourceType& type, std::string_view subresource,
                             const Json::Value& object, const Json::Value& old) {
  std::vector<Cause> causes;
  if (Is(type, "Namespace") && subresource == "status") CheckPhase(object, causes);
  if (type.custom()) return type.schema->Validate(object);
  if (type.name.group == "rbac.authorization.k8s.io") return CheckRbac(type, object, old);
  if (Is(type, "ConfigMap") || Is(type, "Secret")) {
    const std::string sort = StringAt(object, "type");
    if (!old.isNull() && StringAt(old, "type") != sort) {
      causes.push_back(InvalidField("type", rbac::Quote(sort), "field is immutable"));
    }
    if (!old.isNull()) CheckImmutableData(object, old, causes);
    CheckDataKeys(object, causes);
    if (Is(type, "Secret")) CheckSecret(object, causes);
  } else if (Is(type, "CustomResourceDefinition")) {
    CheckDefinition(object, causes);
  } else if (Is(type, "Lease")) {
    CheckLease(object, causes);
  } else if (Is(type, "Event") && type.name.group == "events.k8s.io") {
    CheckEvent(object, causes);
  }
  return causes;
}

}  // namespace mandate::apiserver
