#include "testing/simulation/scope/model.h"

#include <algorithm>

#include "manager/core/strings.h"
#include "testing/simulation/scope/not_yet.h"

namespace mandate::simulation {
namespace {

std::string Uid(const Json::Value& object) { return object["metadata"]["uid"].asString(); }
std::string Name(const Json::Value& object) { return object["metadata"]["name"].asString(); }
bool Leaving(const Json::Value& object) { return object["metadata"].isMember("deletionTimestamp"); }

// "Subjects that must be bound to the clusterRole": the role's own, from either place, or the
// template's.
std::vector<Json::Value> SubjectsOf(const Json::Value& role, const Json::Value& spec) {
  std::vector<Json::Value> subjects;
  for (const auto& s : role["bindingTemplate"]["subjects"]) subjects.push_back(s);
  for (const auto& s : role["subjects"]) subjects.push_back(s);
  if (subjects.empty()) {
    for (const auto& s : spec["bindingTemplate"]["subjects"]) subjects.push_back(s);
  }
  return subjects;
}

bool IsValidSubject(const Json::Value& s) {
  return s["kind"] != "ServiceAccount" || !s["namespace"].asString().empty();
}
bool IsValidRule(const Json::Value& rule) { return !rule["verbs"].empty(); }

std::set<std::string> ValidSubjects(const Json::Value& role, const Json::Value& spec) {
  std::set<std::string> valid;
  for (const auto& s : SubjectsOf(role, spec)) {
    if (IsValidSubject(s)) valid.insert(SubjectText(s));
  }
  return valid;
}

// A template without subjects, with one role twice, with a ServiceAccount without a namespace, or
// with a rule without verbs grants nothing new. Grants that its valid part does not name are
// revoked.
bool Invalid(const Json::Value& scope_template) {
  const Json::Value& spec = scope_template["spec"];
  std::set<std::string> names;
  for (const auto& role : spec["clusterRoles"]) {
    if (!names.insert(role["generateName"].asString()).second) return true;
    const auto subjects = SubjectsOf(role, spec);
    if (subjects.empty() || !std::ranges::all_of(subjects, IsValidSubject)) return true;
    for (const auto& rule : role["rules"]) {
      if (!IsValidRule(rule)) return true;
    }
  }
  return false;
}

// "If a scopeInstance references the scopeTemplate, the clusterRole will be created."
bool Referenced(const Json::Value& scope_template, const std::vector<Json::Value>& instances) {
  return std::any_of(instances.begin(), instances.end(), [&](const Json::Value& instance) {
    return !Leaving(instance) &&
           instance["spec"]["scopeTemplateName"].asString() == Name(scope_template);
  });
}

// As GenerateNameOf() finds it in the role's name.
std::string GenerateName(const Json::Value& role) {
  const std::string name = role["generateName"].asString();
  return name.ends_with('-') ? name : name + "-";
}

// The places where an instance wants its grants.
struct Places {
  bool cluster = false;
  bool missing = false;         // a named namespace does not exist or is terminating
  std::set<std::string> named;  // existing or not
  std::set<std::string> there;
};

Places PlacesOf(const Json::Value& instance, const std::vector<Json::Value>& namespaces) {
  Places places;
  const Json::Value& listed = instance["spec"]["namespaces"];
  const Json::Value& selector = instance["spec"]["namespaceSelector"];
  // "If the namespaces array is empty, a single clusterRoleBinding will be created."
  places.cluster = listed.empty() && selector.isNull();
  if (places.cluster) return places;
  for (const auto& name : listed) places.named.insert(name.asString());
  size_t found = 0;
  for (const auto& ns : namespaces) {
    const bool listed_here = places.named.contains(Name(ns));
    const bool selected = !selector.isNull() && Takes(selector, ns["metadata"]["labels"]);
    if (!listed_here && !selected) continue;
    if (!Leaving(ns)) {
      places.there.insert(Name(ns));
      found += listed_here ? 1 : 0;
    }
  }
  places.missing = found < places.named.size();
  places.named.insert(places.there.begin(), places.there.end());
  return places;
}

void ExpectTemplate(const Json::Value& scope_template, const Declared& declared,
                    Expected& expected) {
  const std::string uid = Uid(scope_template);
  const bool referenced = Referenced(scope_template, declared.instances);
  const bool invalid = Invalid(scope_template);
  if (Leaving(scope_template)) {
    expected.frozen_templates.insert(uid);
    return;
  }
  expected.reasons[uid] = invalid ? "TemplatingFailed" : "TemplatingSuccessful";
  if (!referenced) return;
  for (const auto& role : scope_template["spec"]["clusterRoles"]) {
    const std::string name = GenerateName(role);
    if (invalid) {
      Json::Value& at_most = expected.roles_at_most[{uid, name}];
      for (const auto& rule : role["rules"]) {
        if (IsValidRule(rule)) at_most.append(rule);
      }
      continue;
    }
    Json::Value rules = role["rules"];
    if (rules.isNull()) rules = Json::Value(Json::arrayValue);
    expected.roles[{uid, name}] = rules;
  }
}

void ExpectInstance(const Json::Value& instance, const Declared& declared, Expected& expected) {
  const std::string uid = Uid(instance);
  const Places places = PlacesOf(instance, declared.namespaces);
  const auto found =
      std::find_if(declared.templates.begin(), declared.templates.end(), [&](const Json::Value& t) {
        return Name(t) == instance["spec"]["scopeTemplateName"].asString();
      });
  if (Leaving(instance)) {
    // The grants of a terminating instance are revoked, even if a finalizer prevents its deletion.
    expected.reasons[uid] = "ScopeInstanceTerminating";
    return;
  }
  if (found == declared.templates.end()) {
    expected.reasons[uid] = "ScopeTemplateNotFound";
    return;
  }
  const Json::Value& spec = (*found)["spec"];
  if (!Leaving(*found) && Invalid(*found)) {
    expected.reasons[uid] = "ScopeTemplateFailed";
    for (const auto& role : spec["clusterRoles"]) {
      const std::set<std::string> subjects = ValidSubjects(role, spec);
      if (subjects.empty()) continue;
      const RoleId id{Uid(*found), GenerateName(role)};
      std::set<std::string> named = places.named;
      if (places.cluster) named = {""};
      for (const std::string& ns : named) {
        expected.grants_at_most[{uid, id, ns}].insert(subjects.begin(), subjects.end());
      }
    }
    return;
  }
  if (Leaving(*found)) {
    expected.reasons[uid] = "ScopeTemplateFailed";
    expected.frozen[uid] = {Uid(*found), places.cluster, places.named};
    return;
  }
  expected.reasons[uid] = places.missing ? "ScopingFailed" : "ScopingSuccessful";
  for (const auto& role : spec["clusterRoles"]) {
    const std::set<std::string> subjects = ValidSubjects(role, spec);
    const RoleId id{Uid(*found), GenerateName(role)};
    if (places.cluster) expected.grants[{uid, id, ""}] = subjects;
    for (const std::string& ns : places.there) expected.grants[{uid, id, ns}] = subjects;
  }
}

}  // namespace

std::string SubjectText(const Json::Value& subject) {
  const std::string kind = subject["kind"].asString();
  const std::string name = subject["name"].asString();
  if (kind == "ServiceAccount") return kind + " " + subject["namespace"].asString() + "/" + name;
  return kind + " " + name;
}

std::set<std::string> AtomsOf(const Json::Value& rules) {
  std::set<std::string> atoms;
  for (const auto& rule : rules) {
    for (const auto& verb : rule["verbs"]) {
      for (const auto& resource : rule["resources"]) {
        atoms.insert(StrCat(verb.asString(), " ", resource.asString()));
      }
    }
  }
  return atoms;
}

bool Takes(const Json::Value& selector, const Json::Value& labels) {
  const bool structured = selector.isMember("matchLabels") || selector.isMember("matchExpressions");
  const Json::Value& map = structured ? selector["matchLabels"] : selector;
  for (const std::string& key : map.getMemberNames()) {
    if (!labels.isMember(key) || labels[key] != map[key]) return false;
  }
  if (!structured) return true;
  for (const auto& one : selector["matchExpressions"]) {
    const std::string key = one["key"].asString();
    const std::string op = one["operator"].asString();
    bool among = false;
    for (const auto& value : one["values"]) among = among || labels[key] == value;
    if (op == "Exists" && !labels.isMember(key)) return false;
    if (op == "DoesNotExist" && labels.isMember(key)) return false;
    if (op == "In" && !among) return false;
    if (op == "NotIn" && among) return false;
  }
  return true;
}

bool Expected::Allows(const GrantId& grant) const {
  if (grants.contains(grant) || grants_at_most.contains(grant)) return true;
  const auto found = frozen.find(grant.instance_uid);
  if (found == frozen.end()) return false;
  const Frozen& frozen_here = found->second;
  if (!NotYet().contains(kLeavesOnlyItsOwn) &&
      frozen_here.template_uid != grant.role.template_uid) {
    return false;
  }
  return frozen_here.everywhere || frozen_here.namespaces.contains(grant.ns);
}

Expected Expect(const Declared& declared) {
  Expected expected;
  for (const auto& t : declared.templates) ExpectTemplate(t, declared, expected);
  for (const auto& i : declared.instances) ExpectInstance(i, declared, expected);
  return expected;
}

}  // namespace mandate::simulation
