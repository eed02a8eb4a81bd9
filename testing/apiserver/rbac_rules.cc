#include "testing/apiserver/rbac_rules.h"

#include <string>
#include <string_view>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/names.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/meta_rules.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

constexpr char kGroup[] = "rbac.authorization.k8s.io";

bool HasElements(const Json::Value& value, std::string_view key) {
  const Json::Value* member = FindMember(value, key);
  return member != nullptr && member->isArray() && !member->empty();
}

void CheckRule(const Json::Value& rule, bool namespaced, const std::string& field,
               std::vector<Cause>& causes) {
  if (!HasElements(rule, "verbs")) {
    causes.push_back(RequiredField(field + ".verbs", "verbs must contain at least one value"));
  }
  if (HasElements(rule, "nonResourceURLs")) {
    const std::string urls = WriteJson(rule["nonResourceURLs"]);
    if (namespaced) {
      causes.push_back(InvalidField(field + ".nonResourceURLs", urls,
                                    "namespaced rules cannot apply to non-resource URLs"));
    }
    if (HasElements(rule, "apiGroups") || HasElements(rule, "resources") ||
        HasElements(rule, "resourceNames")) {
      causes.push_back(
          InvalidField(field + ".nonResourceURLs", urls,
                       "rules cannot apply to both regular resources and non-resource URLs"));
    }
    return;
  }
  if (!HasElements(rule, "apiGroups")) {
    causes.push_back(
        RequiredField(field + ".apiGroups", "resource rules must supply at least one api group"));
  }
  if (!HasElements(rule, "resources")) {
    causes.push_back(
        RequiredField(field + ".resources", "resource rules must supply at least one resource"));
  }
}

void CheckSubject(const Json::Value& subject, bool namespaced, const std::string& field,
                  std::vector<Cause>& causes) {
  const std::string kind = StringAt(subject, "kind");
  const std::string name = StringAt(subject, "name");
  const std::string group = StringAt(subject, "apiGroup");
  if (name.empty()) causes.push_back(RequiredField(field + ".name", ""));
  const auto expect_group = [&](const std::string& expected) {
    if (group != expected) {
      causes.push_back(UnsupportedValue(field + ".apiGroup", rbac::Quote(group), {expected}));
    }
  };
  if (kind == "ServiceAccount") {
    if (!name.empty() && !CheckDnsSubdomain(name).ok()) {
      causes.push_back(
          InvalidField(field + ".name", rbac::Quote(name),
                       NameProblem({.name = {"", "serviceaccounts"}, .kind = kind}, name)));
    }
    expect_group("");
    if (!namespaced && StringAt(subject, "namespace").empty()) {
      causes.push_back(RequiredField(field + ".namespace", ""));
    }
  } else if (kind == "User" || kind == "Group") {
    expect_group(kGroup);
  } else {
    causes.push_back(
        UnsupportedValue(field + ".kind", rbac::Quote(kind), {"ServiceAccount", "User", "Group"}));
  }
}

void CheckRoleRef(const Json::Value& object, bool namespaced, std::vector<Cause>& causes) {
  const Json::Value* ref = FindMember(object, "roleRef");
  const Json::Value none(Json::objectValue);
  if (ref == nullptr) ref = &none;
  const std::string group = StringAt(*ref, "apiGroup");
  const std::string kind = StringAt(*ref, "kind");
  const std::string name = StringAt(*ref, "name");
  if (group != kGroup) {
    causes.push_back(UnsupportedValue("roleRef.apiGroup", rbac::Quote(group), {kGroup}));
  }
  if (kind != "ClusterRole" && (kind != "Role" || !namespaced)) {
    std::vector<std::string> supported = {"ClusterRole"};
    if (namespaced) supported = {"Role", "ClusterRole"};
    causes.push_back(UnsupportedValue("roleRef.kind", rbac::Quote(kind), supported));
  }
  if (name.empty()) {
    causes.push_back(RequiredField("roleRef.name", ""));
  } else if (const std::string problem =
                 NameProblem({.name = {kGroup, "roles"}, .kind = "Role"}, name);
             !problem.empty()) {
    causes.push_back(InvalidField("roleRef.name", rbac::Quote(name), problem));
  }
}

// The text of the server's internal type.
std::string RefText(const Json::Value& ref) {
  return StrCat(R"({"APIGroup":)", WriteJson(StringAt(ref, "apiGroup")), R"(,"Kind":)",
                WriteJson(StringAt(ref, "kind")), R"(,"Name":)", WriteJson(StringAt(ref, "name")),
                "}");
}

}  // namespace

void DefaultBinding(Json::Value& object) {
  Json::Value& ref = object["roleRef"];
  if (!ref.isObject()) ref = Json::Value(Json::objectValue);
  if (StringAt(ref, "apiGroup").empty()) ref["apiGroup"] = kGroup;
  if (!HasElements(object, "subjects")) return;
  for (Json::Value& subject : object["subjects"]) {
    if (!StringAt(subject, "apiGroup").empty()) continue;
    const std::string kind = StringAt(subject, "kind");
    if (kind == "User" || kind == "Group") subject["apiGroup"] = kGroup;
  }
}

std::vector<Cause> CheckRbac(const ResourceType& type, const Json::Value& object,
                             const Json::Value& old) {
  std::vector<Cause> causes;
  if (type.kind == "Role" || type.kind == "ClusterRole") {
    if (!HasElements(object, "rules")) return causes;
    const Json::Value& rules = *FindMember(object, "rules");
    for (Json::ArrayIndex i = 0; i < rules.size(); ++i) {
      CheckRule(rules[i], type.namespaced, StrCat("rules[", i, "]"), causes);
    }
    return causes;
  }
  CheckRoleRef(object, type.namespaced, causes);
  if (HasElements(object, "subjects")) {
    const Json::Value& subjects = *FindMember(object, "subjects");
    for (Json::ArrayIndex i = 0; i < subjects.size(); ++i) {
      CheckSubject(subjects[i], type.namespaced, StrCat("subjects[", i, "]"), causes);
    }
  }
  if (!old.isNull() && *FindMember(old, "roleRef") != *FindMember(object, "roleRef")) {
    causes.push_back(
        InvalidField("roleRef", RefText(*FindMember(object, "roleRef")), "cannot change roleRef"));
  }
  return causes;
}

}  // namespace mandate::apiserver
