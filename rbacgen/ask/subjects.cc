#include "rbacgen/ask/subjects.h"

#include <algorithm>
#include <set>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

constexpr char kServiceAccount[] = "ServiceAccount";

std::set<SubjectKey> SubjectsOf(const World& world) {
  std::set<SubjectKey> subjects;
  const auto note = [&](const std::vector<rbac::Subject>& all, const std::string& ns) {
    for (const rbac::Subject& s : all) {
      const bool is_account = s.kind == kServiceAccount;
      subjects.insert({s.kind, is_account ? (s.ns.empty() ? ns : s.ns) : "", s.name});
    }
  };
  for (const auto& b : world.policy.role_bindings) note(b.subjects, b.ns);
  for (const auto& b : world.policy.cluster_role_bindings) note(b.subjects, "");
  return subjects;
}

std::string Title(const SubjectKey& s) {
  if (s.kind == kServiceAccount) return StrCat(s.ns, "/", s.name);
  return StrCat(s.kind == "Group" ? "group " : "user ", s.name);
}

std::optional<SubjectKey> AccountOf(const World& world, const std::string& component) {
  const auto found = world.components.find(component);
  if (found == world.components.end()) return std::nullopt;
  return SubjectKey{kServiceAccount, found->second.ns, found->second.name};
}

}  // namespace

rbac::UserInfo Alone(const SubjectKey& s) {
  if (s.kind == kServiceAccount) return {rbac::ServiceAccountUser(s.ns, s.name), {}};
  if (s.kind == "Group") return {"", {s.name}};
  return {s.name, {}};
}

rbac::UserInfo WithGroups(const SubjectKey& s) {
  if (s.kind == kServiceAccount) return rbac::ServiceAccountInfo(s.ns, s.name);
  const bool is_anonymous = s.name == rbac::kAnonymousUser || s.name == rbac::kUnauthenticatedGroup;
  if (is_anonymous) return rbac::AnonymousInfo();
  if (s.kind == "Group") return rbac::AuthenticatedInfo("somebody", {s.name});
  return rbac::AuthenticatedInfo(s.name);
}

std::vector<Compared> SubjectsToCompare(const World& before, const World& now) {
  std::vector<Compared> all;
  std::set<std::string> components;
  for (const auto& [name, account] : before.components) components.insert(name);
  for (const auto& [name, account] : now.components) components.insert(name);
  std::set<SubjectKey> others;
  if (before.knows_later == now.knows_later) {
    others = SubjectsOf(before);
    others.merge(SubjectsOf(now));
  }
  for (const std::string& name : components) {
    all.push_back({name, /*is_component=*/true, AccountOf(before, name), AccountOf(now, name)});
    for (const auto& account : {all.back().before, all.back().now}) {
      if (account.has_value()) others.erase(*account);
    }
  }
  for (const SubjectKey& s : others) all.push_back({Title(s), /*is_component=*/false, s, s});
  return all;
}

}  // namespace mandate::rbacgen
