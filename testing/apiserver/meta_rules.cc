#include "testing/apiserver/meta_rules.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/names.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

constexpr std::string_view kLabelWords =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainWords =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kKeyWords =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
// The error of a key with more than one slash.
constexpr std::string_view kKeyStart = "a valid label key must consist of ";
constexpr std::string_view kKeyEnd =
    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
constexpr std::string_view kValueWords =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

std::string TooLong(size_t limit) { return StrCat("must be no more than ", limit, " bytes"); }

bool IsRbac(const ResourceType& type) { return type.name.group == "rbac.authorization.k8s.io"; }

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

bool IsQualified(std::string_view finalizer) {
  return finalizer.find('/') != finalizer.npos || finalizer == kOrphan ||
         finalizer == kForeground || finalizer == "kubernetes";
}

// The kinds that accept finalizers without a domain.
bool TakesAnyFinalizer(const ResourceType& type) {
  constexpr std::array<std::string_view, 4> kGroups = {"admissionregistration.k8s.io",
                                                       "apiextensions.k8s.io",
                                                       "coordination.k8s.io", "events.k8s.io"};
  return type.custom() || type.kind == "Event" ||
         std::find(kGroups.begin(), kGroups.end(), type.name.group) != kGroups.end();
}

void CheckFinalizers(const ResourceType& type, const Json::Value& object,
                     std::vector<Cause>& causes) {
  constexpr std::string_view kField = "metadata.finalizers";
  const std::vector<std::string> finalizers = FinalizersOf(object);
  for (const std::string& name : finalizers) {
    if (name.empty()) {
      causes.push_back(InvalidField(kField, "\"\"", "name part must be non-empty"));
    }
    if (const std::string problem = LabelKeyProblem(name); !problem.empty()) {
      causes.push_back(InvalidField(kField, rbac::Quote(name), problem));
    }
  }
  const auto has = [&](std::string_view name) {
    return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
  };
  if (has(kOrphan) && has(kForeground)) {
    causes.push_back(
        InvalidField(kField, WriteJson(*FindMember(MetadataOf(object), "finalizers")),
                     StrCat("finalizer ", kOrphan, " and ", kForeground, " cannot be both set")));
  }
  if (TakesAnyFinalizer(type)) return;
  for (size_t i = 0; i < finalizers.size(); ++i) {
    if (IsQualified(finalizers[i])) continue;
    causes.push_back(
        InvalidField(StrCat(kField, "[", i, "]"), rbac::Quote(finalizers[i]),
                     "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

void CheckOwners(const Json::Value& object, std::vector<Cause>& causes) {
  const Json::Value* owners = FindMember(MetadataOf(object), "ownerReferences");
  if (owners == nullptr || !owners->isArray()) return;
  std::string controller;
  for (const Json::Value& owner : *owners) {
    if (StringAt(owner, "apiVersion") == "v1" && StringAt(owner, "kind") == "Event") {
      causes.push_back(InvalidField("metadata.ownerReferences", WriteJson(owner),
                                    "/v1, Kind=Event is disallowed from being an owner"));
    }
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (StringAt(owner, field).empty()) {
        causes.push_back(InvalidField(StrCat("metadata.ownerReferences.", field), "\"\"",
                                      field == std::string_view("apiVersion")
                                          ? "version must not be empty"
                                          : "must not be empty"));
      }
    }
    const Json::Value* is_controller = FindMember(owner, "controller");
    if (is_controller == nullptr || !is_controller->isBool() || !is_controller->asBool()) continue;
    const std::string name = StrCat(StringAt(owner, "kind"), "/", StringAt(owner, "name"));
    if (!controller.empty()) {
      causes.push_back(InvalidField(
          "metadata.ownerReferences", WriteJson(*owners),
          StrCat("Only one reference can have Controller set to true. Found \"true\" in "
                 "references for ",
                 controller, " and ", name)));
    }
    controller = name;
  }
}

}  // namespace

std::string NameProblem(const ResourceType& type, std::string_view name) {
  if (IsRbac(type)) {
    if (name == "." || name == "..") return StrCat("may not be '", name, "'");
    if (name.find('/') != name.npos) return "may not contain '/'";
    if (name.find('%') != name.npos) return "may not contain '%'";
    return "";
  }
  const bool label = type.kind == "Namespace" || type.kind == "Service";
  if (name.size() > (label ? 63 : 253)) return TooLong(label ? 63 : 253);
  if (label && !CheckDnsLabel(name).ok()) {
    return CheckDnsSubdomain(name).ok() ? "must not contain dots" : std::string(kLabelWords);
  }
  if (label) return "";
  return CheckDnsSubdomain(name).ok() ? "" : std::string(kSubdomainWords);
}

std::string LabelKeyProblem(std::string_view key) {
  if (CheckLabelKey(key).ok()) return "";
  const size_t slash = key.find('/');
  if (slash == key.npos)
    return key.size() > 63 ? "name part " + TooLong(63) : std::string(kKeyWords);
  if (key.find('/', slash + 1) != key.npos) {
    constexpr std::string_view kStart = "name part must consist of ";
    return StrCat(kKeyStart, kKeyWords.substr(kStart.size()), kKeyEnd);
  }
  if (slash == 0) return "prefix part must be non-empty";
  std::string problem;
  if (!CheckDnsSubdomain(key.substr(0, slash)).ok())
    problem = StrCat("prefix part ", kSubdomainWords);
  const std::string_view name = key.substr(slash + 1);
  if (name.empty()) return "name part must be non-empty";
  if (const std::string own = LabelKeyProblem(name); !own.empty()) {
    StrAppend(&problem, problem.empty() ? "" : "; ", own);
  }
  return problem;
}

std::string LabelValueProblem(std::string_view value) {
  if (value.size() > 63) return TooLong(63);
  return CheckLabelValue(value).ok() ? "" : std::string(kValueWords);
}

std::vector<Cause> CheckNames(const ResourceType& type, const Json::Value& object) {
  std::vector<Cause> causes;
  const std::string name = MetaString(object, "name");
  if (std::string generate = MetaString(object, "generateName"); !generate.empty()) {
    // A dash at the end is valid, because a suffix follows it.
    while (generate.size() > 1 && generate.back() == '-') generate.pop_back();
    if (const std::string problem = NameProblem(type, generate); !problem.empty()) {
      causes.push_back(InvalidField("metadata.generateName",
                                    rbac::Quote(MetaString(object, "generateName")), problem));
    }
  }
  if (name.empty()) {
    causes.push_back(RequiredField("metadata.name", "name or generateName is required"));
  } else if (const std::string problem = NameProblem(type, name); !problem.empty()) {
    causes.push_back(InvalidField("metadata.name", rbac::Quote(name), problem));
  }
  return causes;
}

bool ChecksNamesOnUpdate(const ResourceType& type) {
  return !type.custom() && type.kind != "Namespace" && type.kind != "Lease";
}

std::vector<Cause> CheckMeta(const ResourceType& type, const Json::Value& object) {
  std::vector<Cause> causes;
  if (const int64_t generation = GenerationOf(object); generation < 0) {
    causes.push_back(InvalidField("metadata.generation", std::to_string(generation),
                                  "must be greater than or equal to 0"));
  }
  for (const auto& [key, value] : LabelsOf(object)) {
    if (const std::string problem = LabelKeyProblem(key); !problem.empty()) {
      causes.push_back(InvalidField("metadata.labels", rbac::Quote(key), problem));
    }
    if (const std::string problem = LabelValueProblem(value); !problem.empty()) {
      causes.push_back(InvalidField("metadata.labels", rbac::Quote(value), problem));
    }
  }
  if (const Json::Value* annotations = FindMember(MetadataOf(object), "annotations");
      annotations != nullptr && annotations->isObject()) {
    for (const std::string& key : annotations->getMemberNames()) {
      if (const std::string problem = LabelKeyProblem(absl::AsciiStrToLower(key));
          !problem.empty()) {
        causes.push_back(InvalidField("metadata.annotations", rbac::Quote(key), problem));
      }
    }
  }
  CheckOwners(object, causes);
  CheckFinalizers(type, object, causes);
  return causes;
}

std::vector<std::string> DropRepeatedOwners(Json::Value& object) {
  std::vector<std::string> uids;
  const Json::Value* owners = FindMember(MetadataOf(object), "ownerReferences");
  if (owners == nullptr || !owners->isArray()) return uids;
  Json::Value kept(Json::arrayValue);
  for (const Json::Value& owner : *owners) {
    if (std::find(kept.begin(), kept.end(), owner) == kept.end()) {
      kept.append(owner);
    } else {
      uids.push_back(StringAt(owner, "uid"));
    }
  }
  if (!uids.empty()) MutableMetadata(object)["ownerReferences"] = kept;
  return uids;
}

std::vector<std::string> FinalizerWarnings(const ResourceType& type, const Json::Value& object,
                                           const Json::Value& old) {
  std::vector<std::string> warnings;
  if (!type.custom()) return warnings;
  const std::vector<std::string> before = FinalizersOf(old);
  for (const std::string& name : FinalizersOf(object)) {
    if (IsQualified(name) || std::find(before.begin(), before.end(), name) != before.end()) {
      continue;
    }
    warnings.push_back(StrCat("metadata.finalizers: ", rbac::Quote(name),
                              ": prefer a domain-qualified finalizer name to avoid accidental "
                              "conflicts with other finalizer writers"));
  }
  return warnings;
}

std::vector<Cause> CheckMetaUpdate(const Json::Value& object, const Json::Value& old) {
  std::vector<Cause> causes;
  for (const char* field : {"uid", "deletionTimestamp"}) {
    if (MetaString(object, field) != MetaString(old, field)) {
      causes.push_back(InvalidField(StrCat("metadata.", field),
                                    rbac::Quote(MetaString(object, field)), "field is immutable"));
    }
  }
  constexpr char kGrace[] = "deletionGracePeriodSeconds";
  if (MetadataOf(object).get(kGrace, Json::Value()) != MetadataOf(old).get(kGrace, Json::Value())) {
    causes.push_back(InvalidField(StrCat("metadata.", kGrace),
                                  WriteJson(MetadataOf(object).get(kGrace, Json::Value())),
                                  "field is immutable"));
  }
  if (!IsDeleting(old)) return causes;
  const std::vector<std::string> before = FinalizersOf(old);
  std::string added;
  for (const std::string& name : FinalizersOf(object)) {
    if (std::find(before.begin(), before.end(), name) != before.end()) continue;
    StrAppend(&added, added.empty() ? "" : ", ", rbac::Quote(name));
  }
  if (!added.empty()) {
    causes.push_back(ForbiddenField(
        "metadata.finalizers",
        StrCat("no new finalizers can be added if the object is being deleted, found new "
               "finalizers []string{",
               added, "}")));
  }
  return causes;
}

}  // namespace mandate::apiserver
