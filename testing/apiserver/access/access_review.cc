#include "testing/apiserver/access/access_review.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/selector.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/access/json_fields.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

using rbac::Quote;
using Causes = std::vector<Cause>;

bool NeedsValues(const Json::Value& requirement) {
  const std::string op = StringAt(requirement, "operator");
  return op == "In" || op == "NotIn";
}

void CheckSelector(const Json::Value& attributes, const std::string& which, Causes& causes) {
  const Json::Value& selector = Member(attributes, which);
  if (selector.isNull()) return;
  const std::string field = StrCat("spec.resourceAttributes.", which);
  const std::string raw = StringAt(selector, "rawSelector");
  const bool requirements = !Member(selector, "requirements").empty();
  for (Json::ArrayIndex i = 0; requirements && i < selector["requirements"].size(); ++i) {
    const Json::Value& one = selector["requirements"][i];
    const std::string here = StrCat(field, ".requirements[", i, "]");
    if (StringAt(one, "key").empty()) {
      causes.push_back(RequiredField(here + ".key", "must be specified"));
    }
    if (NeedsValues(one) && Member(one, "values").empty()) {
      causes.push_back(
          RequiredField(here + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  }
  if (!raw.empty() && requirements) {
    causes.push_back(InvalidField(field + ".rawSelector", Quote(raw),
                                  "may not specified at the same time as requirements"));
  }
  if (raw.empty() && !requirements) {
    causes.push_back(RequiredField(
        field + ".requirements",
        StrCat("when ", field, " is specified, requirements or rawSelector is required")));
  }
}

// The attributes as Go prints the server's struct.
std::string Printed(const Json::Value& non_resource) {
  return StrCat(R"({"Path":)", Quote(StringAt(non_resource, "path")), R"(,"Verb":)",
                Quote(StringAt(non_resource, "verb")), "}");
}

Causes CheckSpec(const Json::Value& spec, bool needs_user) {
  Causes causes;
  const Json::Value& resource = Member(spec, "resourceAttributes");
  const Json::Value& non_resource = Member(spec, "nonResourceAttributes");
  if (!resource.isNull() && !non_resource.isNull()) {
    causes.push_back(InvalidField("spec.nonResourceAttributes", Printed(non_resource),
                                  "cannot be specified in combination with resourceAttributes"));
  }
  if (resource.isNull() && non_resource.isNull()) {
    causes.push_back(
        InvalidField("spec.resourceAttributes", "null",
                     "exactly one of nonResourceAttributes or resourceAttributes must be "
                     "specified"));
  }
  if (needs_user && StringAt(spec, "user").empty() && Member(spec, "groups").empty()) {
    causes.push_back(
        InvalidField("spec.user", R"("")", "at least one of user or group must be specified"));
  }
  CheckSelector(resource, "fieldSelector", causes);
  CheckSelector(resource, "labelSelector", causes);
  return causes;
}

// The metadata must be empty, except for the members that this function removes.
void CheckMetadata(Json::Value metadata, bool namespaced, Causes& causes) {
  const std::string printed = WriteJson(metadata);
  metadata.removeMember("managedFields");
  if (namespaced) metadata.removeMember("namespace");
  if (metadata.empty()) return;
  causes.push_back(InvalidField(
      "metadata", printed, namespaced ? "must be empty except for namespace" : "must be empty"));
}

absl::Status Invalid(const Causes& causes) {
  if (causes.empty()) return absl::OkStatus();
  // The server's error has no kind either.
  return InvalidError("authorization.k8s.io", "", "", causes);
}

rbac::Attributes AttributesOf(const Json::Value& spec) {
  rbac::Attributes attributes;
  const Json::Value& resource = Member(spec, "resourceAttributes");
  if (resource.isNull()) {
    const Json::Value& path = Member(spec, "nonResourceAttributes");
    attributes.is_resource_request = false;
    attributes.path = StringAt(path, "path");
    attributes.verb = StringAt(path, "verb");
    return attributes;
  }
  attributes.verb = StringAt(resource, "verb");
  attributes.api_group = StringAt(resource, "group");
  attributes.api_version = StringAt(resource, "version");
  attributes.resource = StringAt(resource, "resource");
  attributes.subresource = StringAt(resource, "subresource");
  attributes.ns = StringAt(resource, "namespace");
  attributes.name = StringAt(resource, "name");
  return attributes;
}

// "partially " if a part of the field selector can be parsed, "" if no part can, nullopt if all
// can.
std::optional<std::string> Unread(const Json::Value& fields) {
  const std::vector<std::string> terms = absl::StrSplit(StringAt(fields, "rawSelector"), ',');
  for (const std::string& term : terms) {
    if (!term.empty() && term.find('=') == term.npos) return "";
  }
  size_t read = 0;
  const Json::Value& requirements = Member(fields, "requirements");
  for (const Json::Value& one : requirements) {
    if (NeedsValues(one) && Member(one, "values").size() == 1) ++read;
  }
  if (read == requirements.size()) return std::nullopt;
  return read == 0 ? "" : "partially ";
}

// RBAC ignores selectors, but the review reports those that cannot be parsed.
std::string SelectorError(const Json::Value& spec) {
  const Json::Value& fields = Member(Member(spec, "resourceAttributes"), "fieldSelector");
  const Json::Value& labels = Member(Member(spec, "resourceAttributes"), "labelSelector");
  std::string errors;
  if (const std::optional<std::string> part = Unread(fields)) {
    errors = StrCat("spec.resourceAttributes.fieldSelector ", *part, "ignored due to parse error");
  }
  const std::string raw = StringAt(labels, "rawSelector");
  if (!raw.empty() && !LabelSelector::Parse(raw).ok()) {
    StrAppend(&errors, errors.empty() ? "" : "; ",
              "spec.resourceAttributes.labelSelector ignored due to parse error");
  }
  return errors;
}

// Writes the spec as the server's types encode it: without empty members, except for those that a
// requirement must have.
void TidySpec(Json::Value& spec) {
  const auto tidy = [](Json::Value& object) {
    for (const std::string& name : object.getMemberNames()) {
      if (object[name] == Json::Value("")) object.removeMember(name);
    }
  };
  tidy(spec);
  for (const char* name : {"resourceAttributes", "nonResourceAttributes"}) {
    if (spec.isMember(name)) tidy(spec[name]);
  }
  if (!spec.isMember("resourceAttributes")) return;
  for (const char* name : {"fieldSelector", "labelSelector"}) {
    if (Member(Member(spec["resourceAttributes"], name), "requirements").isNull()) continue;
    for (Json::Value& one : spec["resourceAttributes"][name]["requirements"]) {
      for (const char* member : {"key", "operator"}) {
        if (!one.isMember(member)) one[member] = "";
      }
    }
  }
}

Json::Value Answer(const rbac::Authorizer& authorizer, const rbac::UserInfo& user,
                   Json::Value object) {
  const rbac::Decision decision = authorizer.Authorize(user, AttributesOf(object["spec"]));
  Json::Value status(Json::objectValue);
  status["allowed"] = decision.allowed;
  if (!decision.reason.empty()) status["reason"] = decision.reason;
  if (const std::string error = SelectorError(object["spec"]); !error.empty()) {
    status["evaluationError"] = error;
  }
  object["status"] = std::move(status);
  TidySpec(object["spec"]);
  return object;
}

rbac::UserInfo SubjectOf(const Json::Value& spec) {
  return {.name = StringAt(spec, "user"), .groups = Texts(spec, "groups")};
}

}  // namespace

absl::StatusOr<Json::Value> ReviewOwnAccess(const rbac::Authorizer& authorizer,
                                            const Request& request, Json::Value object) {
  Causes causes = CheckSpec(Member(object, "spec"), /*needs_user=*/false);
  CheckMetadata(Member(object, "metadata"), /*namespaced=*/false, causes);
  RETURN_IF_ERROR(Invalid(causes));
  return Answer(authorizer, request.user, std::move(object));
}

absl::StatusOr<Json::Value> ReviewAccess(const rbac::Authorizer& authorizer, const Request&,
                                         Json::Value object) {
  Causes causes = CheckSpec(Member(object, "spec"), /*needs_user=*/true);
  CheckMetadata(Member(object, "metadata"), /*namespaced=*/false, causes);
  RETURN_IF_ERROR(Invalid(causes));
  const rbac::UserInfo user = SubjectOf(object["spec"]);
  return Answer(authorizer, user, std::move(object));
}

absl::StatusOr<Json::Value> ReviewLocalAccess(const rbac::Authorizer& authorizer,
                                              const Request& request, Json::Value object) {
  const std::string& ns = request.attributes.ns;
  object["metadata"]["namespace"] = ns;
  Causes causes = CheckSpec(Member(object, "spec"), /*needs_user=*/true);
  CheckMetadata(Member(object, "metadata"), /*namespaced=*/true, causes);
  const Json::Value& resource = Member(object["spec"], "resourceAttributes");
  if (const std::string given = StringAt(resource, "namespace");
      !resource.isNull() && given != ns) {
    causes.push_back(InvalidField("spec.resourceAttributes.namespace", Quote(given),
                                  "must match metadata.namespace"));
  }
  if (const Json::Value& path = Member(object["spec"], "nonResourceAttributes"); !path.isNull()) {
    causes.push_back(InvalidField("spec.nonResourceAttributes", Printed(path),
                                  "disallowed on this kind of request"));
  }
  RETURN_IF_ERROR(Invalid(causes));
  const rbac::UserInfo user = SubjectOf(object["spec"]);
  return Answer(authorizer, user, std::move(object));
}

absl::StatusOr<Json::Value> ReviewOwnRules(const rbac::Authorizer& authorizer,
                                           const Request& request, const Json::Value& object) {
  const std::string ns = StringAt(Member(object, "spec"), "namespace");
  if (ns.empty()) return BadRequest("no namespace on request");
  const rbac::ApplicableRules applicable = authorizer.RulesFor(request.user, ns);
  // The response does not repeat the spec.
  Json::Value answer(Json::objectValue);
  answer["metadata"] = answer["spec"] = Json::objectValue;
  Json::Value& status = answer["status"];
  status["resourceRules"] = status["nonResourceRules"] = Json::arrayValue;
  // The server's value is false even if RBAC could not resolve a reference.
  status["incomplete"] = false;
  for (const rbac::Rule& rule : applicable.rules) {
    Json::Value item(Json::objectValue);
    item["verbs"] = JsonList(rule.verbs);
    if (!rule.non_resource_urls.empty()) {
      item["nonResourceURLs"] = JsonList(rule.non_resource_urls);
      status["nonResourceRules"].append(std::move(item));
      continue;
    }
    item["apiGroups"] = JsonList(rule.api_groups);
    item["resources"] = JsonList(rule.resources);
    if (!rule.resource_names.empty()) item["resourceNames"] = JsonList(rule.resource_names);
    status["resourceRules"].append(std::move(item));
  }
  if (!applicable.errors.empty()) {
    const std::string list = absl::StrJoin(applicable.errors, ", ");
    status["evaluationError"] = applicable.errors.size() > 1 ? StrCat("[", list, "]") : list;
  }
  return answer;
}

}  // namespace mandate::apiserver
