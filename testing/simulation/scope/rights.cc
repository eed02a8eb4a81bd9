#include "testing/simulation/scope/rights.h"

#include <utility>

#include "manager/core/strings.h"
#include "testing/simulation/scope/checker.h"
#include "testing/simulation/scope/cluster.h"

namespace mandate::simulation {
namespace {

// If nothing is late, a writer knows objects of this age: a watch that ended may take a minute to
// reopen.
constexpr absl::Duration kKnown = absl::Minutes(2);

std::set<std::string> SubjectsOf(const Json::Value& binding) {
  std::set<std::string> subjects;
  for (const auto& subject : binding["subjects"]) subjects.insert(SubjectText(subject));
  return subjects;
}

// Existing rights keep their time; a right that "* *" included before gets the time of "* *".
void Renew(std::map<std::string, absl::Time>& since, const std::set<std::string>& now_there,
           absl::Time now) {
  if (const auto all = since.find("* *"); all != since.end()) now = all->second;
  std::erase_if(since, [&](const auto& one) { return !now_there.contains(one.first); });
  for (const std::string& one : now_there) since.try_emplace(one, now);
}

std::string RightText(const std::string& subject, const std::string& atom, const std::string& ns) {
  return StrCat(subject, "/", atom, "/", ns);
}

}  // namespace

// A component reads templates and instances by two watches; one may be older than the other.
void Rights::OnDeclared(Declared declared, absl::Time now) {
  std::erase_if(recent_, [&](const auto& one) { return now - one.first > kKnown; });
  Mean(declared);
  for (const auto& [when, before] : recent_) {
    Mean({before.templates, declared.instances, declared.namespaces});
    Mean({declared.templates, before.instances, declared.namespaces});
  }
  recent_.emplace_back(now, std::move(declared));
}

void Rights::Mean(const Declared& declared) {
  const Expected expected = Expect(declared);
  std::set<std::string> selecting;
  for (const auto& instance : declared.instances) {
    if (instance["spec"].isMember("namespaceSelector")) {
      selecting.insert(instance["metadata"]["uid"].asString());
    }
  }
  for (const auto& [grant, subjects] : expected.grants) {
    const auto role = expected.roles.find(grant.role);
    if (role == expected.roles.end()) continue;
    // scope-template does not read namespaces: to it, each may be selected.
    const std::string ns = selecting.contains(grant.instance_uid) ? "*" : grant.ns;
    for (const std::string& subject : subjects) {
      for (const std::string& atom : AtomsOf(role->second)) {
        meant_.insert(RightText(subject, atom, ns));
      }
    }
  }
}

void Rights::OnChange(const apiserver::Change& change, absl::Time now) {
  const bool deleted = change.type == apiserver::Change::Type::kDeleted;
  if (change.resource == ClusterRoles()) {
    if (deleted) return void(roles_.erase(change.object->name));
    Renew(roles_[change.object->name], AtomsOf(change.object->Parse()["rules"]), now);
    return;
  }
  const std::string key = StrCat(change.object->ns, "/", change.object->name);
  const Json::Value binding = change.object->Parse();
  // A stranger who took over a binding grants the rights of its role, now and later.
  if (deleted || ControllerOf(binding, "ScopeInstance").empty()) return void(bindings_.erase(key));
  BindingState& state = bindings_[key];
  state.ns = change.object->ns;
  state.role = binding["roleRef"]["name"].asString();
  Renew(state.subjects, SubjectsOf(binding), now);
}

void Rights::Compare(const BindingState& binding, bool role_is_new, absl::Time now,
                     std::vector<std::string>& unmeant) const {
  const auto role = roles_.find(binding.role);
  if (role == roles_.end()) return;
  for (const auto& [atom, atom_since] : role->second) {
    for (const auto& [subject, subject_since] : binding.subjects) {
      const absl::Time given = role_is_new ? atom_since : subject_since;
      const absl::Time stood = role_is_new ? subject_since : atom_since;
      const auto meant = [&](const std::string& ns) {
        return meant_.contains(RightText(subject, atom, ns));
      };
      if (given != now || now - stood < kKnown || meant(binding.ns)) continue;
      if (!binding.ns.empty() && meant("*")) continue;
      unmeant.push_back(StrCat(subject, " gets ", atom, " in \"", binding.ns, "\""));
    }
  }
}

std::vector<std::string> Rights::GivenByRole(const std::string& role, absl::Time now) const {
  std::vector<std::string> unmeant;
  for (const auto& [key, binding] : bindings_) {
    if (binding.role == role) Compare(binding, /*role_is_new=*/true, now, unmeant);
  }
  return unmeant;
}

std::vector<std::string> Rights::GivenByBinding(const std::string& binding, absl::Time now) const {
  std::vector<std::string> unmeant;
  const auto found = bindings_.find(binding);
  if (found != bindings_.end()) Compare(found->second, /*role_is_new=*/false, now, unmeant);
  return unmeant;
}

}  // namespace mandate::simulation
