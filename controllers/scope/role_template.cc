#include "controllers/scope/role_template.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_join.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/summary.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"

namespace mandate::scope {
namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

// Collects the errors with their fields.
class Problems {
 public:
  void Add(std::string_view field, std::string_view what) {
    problems_.Add(StrCat(field, ": ", what));
  }
  void AddIfNotOk(std::string_view field, const absl::Status& status) {
    if (!status.ok()) Add(field, AsStd(status.message()));
  }
  size_t size() const { return problems_.size(); }
  absl::Status ToStatus() const {
    if (problems_.size() == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(problems_.Text());
  }

 private:
  Summary problems_;
};

// Validates like rbac/v1, so that an invalid rule is rejected before any write.
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

auto FieldsOf(const rbacv1::Subject& subject) {
  return std::tie(subject.kind(), subject.name(), subject.namespace_(), subject.apigroup());
}

struct SubjectField {
  const SubjectList& subjects;
  std::string field;
};

// The valid subjects of these fields, with the API server's default apiGroup.
std::shared_ptr<const SubjectList> Collect(std::initializer_list<SubjectField> fields,
                                           Problems& problems) {
  auto collected = std::make_shared<SubjectList>();
  SubjectSet known;
  for (const auto& [subjects, field] : fields) {
    for (int i = 0; i < subjects.size(); ++i) {
      const rbacv1::Subject& from = subjects[i];
      const size_t before = problems.size();
      CheckSubject(from, StrCat(field, "[", i, "]"), problems);
      if (problems.size() > before) continue;
      rbacv1::Subject& subject = *collected->Add();
      subject.set_kind(from.kind());
      subject.set_name(from.name());
      if (from.kind() == "ServiceAccount") {
        subject.set_namespace_(from.namespace_());
      } else {
        subject.set_apigroup(std::string(kRbacGroup));
      }
      if (!known.Add(subject)) collected->RemoveLast();
    }
  }
  return collected;
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

// All roles that have the same generateName, merged into one role, because we cannot know which one
// the author meant.
class NamedRole {
 public:
  NamedRole(size_t index, std::string field) : index_(index), field_(std::move(field)) {}
  size_t index() const { return index_; }              // of the role
  const std::string& field() const { return field_; }  // of the first role

  // Adds the rules and subjects of `from` to the role.
  void Merge(const RoleTemplate& from, RoleTemplate& role) {
    role.rules.insert(role.rules.end(), from.rules.begin(), from.rules.end());
    if (subjects_ == nullptr) {
      subjects_ = std::make_shared<SubjectList>(*role.subjects);
      for (const rbacv1::Subject& subject : *subjects_) known_.Add(subject);
      role.subjects = subjects_;
    }
    for (const rbacv1::Subject& subject : *from.subjects) {
      if (known_.Contains(subject)) continue;
      rbacv1::Subject& added = *subjects_->Add();
      added = subject;
      known_.Add(added);
    }
  }

 private:
  const size_t index_;
  const std::string field_;
  std::shared_ptr<SubjectList> subjects_;  // the role's own copy, after the first Merge()
  SubjectSet known_;                       // of subjects_
};

size_t SubjectBytes(const std::vector<RoleTemplate>& roles) {
  std::map<const SubjectList*, size_t> bytes_of;  // roles share lists
  size_t sum = 0;
  for (const RoleTemplate& role : roles) {
    const auto [it, is_new] = bytes_of.try_emplace(role.subjects.get());
    if (is_new) {
      for (const rbacv1::Subject& subject : *role.subjects) it->second += subject.ByteSizeLong();
    }
    sum += it->second;
  }
  return sum;
}

}  // namespace

TemplateRoles ExpandTemplate(const operatorsv1alpha1::ScopeTemplate& scope_template) {
  Problems problems;
  TemplateRoles expanded;
  std::map<std::string, NamedRole> named;
  std::shared_ptr<const SubjectList> of_template;
  const auto& spec = scope_template.spec();
  for (int i = 0; i < spec.clusterroles_size(); ++i) {
    const auto& from = spec.clusterroles(i);
    const std::string field = StrCat("spec.clusterRoles[", i, "]");
    RoleTemplate role;
    role.generate_name = from.generatename();
    role.name = ClusterRoleName(scope_template.metadata().uid(), role.generate_name);
    const size_t before = problems.size();
    CheckGenerateName(role.generate_name, field + ".generateName", problems);
    const bool is_named = problems.size() == before;
    for (int r = 0; r < from.rules_size(); ++r) {
      const size_t before_rule = problems.size();
      CheckRule(from.rules(r), StrCat(field, ".rules[", r, "]"), problems);
      if (problems.size() == before_rule) role.rules.push_back(from.rules(r));
    }
    const bool has_subjects =
        !from.bindingtemplate().subjects().empty() || !from.subjects().empty();
    if (has_subjects) {
      role.subjects =
          Collect({{from.bindingtemplate().subjects(), field + ".bindingTemplate.subjects"},
                   {from.subjects(), field + ".subjects"}},
                  problems);
    } else {
      if (of_template == nullptr) {
        of_template = Collect(
            {{spec.bindingtemplate().subjects(), "spec.bindingTemplate.subjects"}}, problems);
      }
      role.subjects = of_template;
    }
    if (!has_subjects && spec.bindingtemplate().subjects().empty()) {
      problems.Add(field + ".bindingTemplate.subjects",
                   "required, here or in spec.bindingTemplate.subjects");
    }
    if (!is_named) continue;
    const auto [other, is_new] = named.try_emplace(role.name, expanded.roles.size(), field);
    if (is_new) {
      expanded.roles.push_back(std::move(role));
      continue;
    }
    problems.Add(
        field + ".generateName",
        StrCat("\"", role.generate_name, "\" is already the name of ", other->second.field()));
    other->second.Merge(role, expanded.roles[other->second.index()]);
  }
  if (SubjectBytes(expanded.roles) > kMaxSubjectBytes) {
    problems.Add("spec.clusterRoles",
                 StrCat("the subjects of all roles together have more than ", kMaxSubjectBytes,
                        " bytes; use groups as subjects, or several ScopeTemplates"));
  }
  expanded.invalid = problems.ToStatus();
  return expanded;
}

bool SameRule(const rbacv1::PolicyRule& a, const rbacv1::PolicyRule& b) {
  const auto same = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  return same(a.verbs(), b.verbs()) && same(a.apigroups(), b.apigroups()) &&
         same(a.resources(), b.resources()) && same(a.resourcenames(), b.resourcenames()) &&
         same(a.nonresourceurls(), b.nonresourceurls());
}

bool SameSubjects(const SubjectList& a, const SubjectList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return FieldsOf(x) == FieldsOf(y); });
}

SubjectSet::SubjectSet(const SubjectList& subjects) {
  for (const rbacv1::Subject& subject : subjects) Add(subject);
}

bool SubjectLess::operator()(const rbacv1::Subject* a, const rbacv1::Subject* b) const {
  return FieldsOf(*a) < FieldsOf(*b);
}

}  // namespace mandate::scope
