#include "controllers/scope/role_template.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_join.h"
#include "controllers/scope/generated_names.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"

namespace mandate::scope {
namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

// Collects what is wrong, each with its field.
class Problems {
 public:
  void Add(std::string_view field, std::string_view what) {
    problems_.push_back(StrCat(field, ": ", what));
  }
  void AddIfNotOk(std::string_view field, const absl::Status& status) {
    if (!status.ok()) Add(field, AsStd(status.message()));
  }
  absl::Status ToStatus() const {
    if (problems_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(problems_, "; "));
  }

 private:
  std::vector<std::string> problems_;
};

// As rbac/v1 validation does, so that a bad rule is refused before anything is changed.
void CheckRule(const rbacv1::PolicyRule& rule, const std::string& field, Problems& problems) {
  if (rule.verbs().empty()) problems.Add(field + ".verbs", "at least one verb is required");
  if (!rule.nonresourceurls().empty()) {
    if (!rule.apigroups().empty() || !rule.resources().empty() || !rule.resourcenames().empty()) {
      problems.Add(field + ".nonResourceURLs",
                   "a rule cannot apply to both resources and non-resource URLs");
    }
    return;
  }
  if (rule.apigroups().empty()) {
    problems.Add(field + ".apiGroups", "at least one group is required (\"\" is the core group)");
  }
  if (rule.resources().empty()) {
    problems.Add(field + ".resources", "at least one resource is required");
  }
}

void CheckSubject(const rbacv1::Subject& subject, const std::string& field, Problems& problems) {
  if (subject.name().empty()) problems.Add(field + ".name", "required");
  if (subject.kind() == "ServiceAccount") {
    if (!subject.name().empty()) {
      problems.AddIfNotOk(field + ".name", CheckDnsSubdomain(subject.name()));
    }
    if (subject.namespace_().empty()) {
      problems.Add(field + ".namespace", "required for a ServiceAccount");
    } else {
      problems.AddIfNotOk(field + ".namespace", CheckDnsLabel(subject.namespace_()));
    }
    if (!subject.apigroup().empty()) {
      problems.Add(field + ".apiGroup", "must be empty for a ServiceAccount");
    }
  } else if (subject.kind() == "User" || subject.kind() == "Group") {
    if (!subject.namespace_().empty()) {
      problems.Add(field + ".namespace", StrCat("must be empty for a ", subject.kind()));
    }
    if (!subject.apigroup().empty() && subject.apigroup() != kRbacGroup) {
      problems.Add(field + ".apiGroup", StrCat("must be \"", kRbacGroup, "\""));
    }
  } else {
    problems.Add(field + ".kind",
                 StrCat("\"", subject.kind(), "\" is not one of User, Group, ServiceAccount"));
  }
}

bool SameSubject(const rbacv1::Subject& a, const rbacv1::Subject& b) {
  return a.kind() == b.kind() && a.name() == b.name() && a.namespace_() == b.namespace_() &&
         a.apigroup() == b.apigroup();
}

using SubjectList = google::protobuf::RepeatedPtrField<rbacv1::Subject>;

// Adds `from`, checked, with the apiGroup that the API server would fill in.
void AddSubjects(const SubjectList& from, const std::string& field, RoleTemplate& role,
                 Problems& problems) {
  for (int i = 0; i < from.size(); ++i) {
    CheckSubject(from[i], StrCat(field, "[", i, "]"), problems);
    rbacv1::Subject subject;
    subject.set_kind(from[i].kind());
    subject.set_name(from[i].name());
    if (from[i].kind() == "ServiceAccount") {
      subject.set_namespace_(from[i].namespace_());
    } else {
      subject.set_apigroup(std::string(kRbacGroup));
    }
    const bool known = std::any_of(role.subjects.begin(), role.subjects.end(),
                                   [&](const auto& s) { return SameSubject(s, subject); });
    if (!known) role.subjects.push_back(std::move(subject));
  }
}

void CheckGenerateName(const std::string& name, const std::string& field, Problems& problems) {
  if (name.empty()) {
    problems.Add(field, "required");
  } else if (name.size() > 200) {
    problems.Add(field, "must be no more than 200 bytes");
  } else {
    problems.AddIfNotOk(field, CheckPathSegment(name));
  }
}

bool SameRule(const rbacv1::PolicyRule& a, const rbacv1::PolicyRule& b) {
  const auto same = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  return same(a.verbs(), b.verbs()) && same(a.apigroups(), b.apigroups()) &&
         same(a.resources(), b.resources()) && same(a.resourcenames(), b.resourcenames()) &&
         same(a.nonresourceurls(), b.nonresourceurls());
}

}  // namespace

absl::StatusOr<std::vector<RoleTemplate>> ExpandTemplate(
    const operatorsv1alpha1::ScopeTemplate& scope_template) {
  Problems problems;
  std::vector<RoleTemplate> roles;
  std::map<std::string, std::string> field_of_name;
  const auto& spec = scope_template.spec();
  for (int i = 0; i < spec.clusterroles_size(); ++i) {
    const auto& from = spec.clusterroles(i);
    const std::string field = StrCat("spec.clusterRoles[", i, "]");
    RoleTemplate role;
    role.generate_name = from.generatename();
    role.name = ClusterRoleName(scope_template.metadata().uid(), role.generate_name);
    CheckGenerateName(role.generate_name, field + ".generateName", problems);
    const auto [other, is_new] = field_of_name.emplace(role.generate_name, field);
    if (!is_new) {
      problems.Add(field + ".generateName",
                   StrCat("\"", role.generate_name, "\" is already the name of ", other->second));
    }
    for (int r = 0; r < from.rules_size(); ++r) {
      CheckRule(from.rules(r), StrCat(field, ".rules[", r, "]"), problems);
      role.rules.push_back(from.rules(r));
    }
    AddSubjects(from.bindingtemplate().subjects(), field + ".bindingTemplate.subjects", role,
                problems);
    AddSubjects(from.subjects(), field + ".subjects", role, problems);
    if (role.subjects.empty()) {
      AddSubjects(spec.bindingtemplate().subjects(), "spec.bindingTemplate.subjects", role,
                  problems);
    }
    if (role.subjects.empty()) {
      problems.Add(field + ".bindingTemplate.subjects",
                   "required, here or in spec.bindingTemplate.subjects");
    }
    roles.push_back(std::move(role));
  }
  if (absl::Status status = problems.ToStatus(); !status.ok()) return status;
  return roles;
}

bool SameRules(const std::vector<rbacv1::PolicyRule>& a,
               const google::protobuf::RepeatedPtrField<rbacv1::PolicyRule>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameRule);
}

bool HasSubject(const SubjectList& subjects, const rbacv1::Subject& subject) {
  return std::any_of(subjects.begin(), subjects.end(),
                     [&](const auto& s) { return SameSubject(s, subject); });
}

bool SameSubjects(const std::vector<rbacv1::Subject>& a, const SubjectList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameSubject);
}

}  // namespace mandate::scope
