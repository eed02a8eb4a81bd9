#include "rbacgen/world/world.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "manager/core/strings.h"
#include "manager/object/names.h"

namespace mandate::rbacgen {
namespace {

template <class T>
void Append(std::vector<T> from, std::vector<T>* to) {
  to->insert(to->end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Keeps only the last object of each key.
template <class T, class Key>
void KeepLast(std::vector<T>* objects, const char* kind, Key key, std::vector<std::string>* words) {
  std::set<std::string> seen;
  std::vector<T> kept;
  for (auto it = objects->rbegin(); it != objects->rend(); ++it) {
    const std::string name = key(*it);
    const bool is_generated = it->name.find(kGeneratedName) != std::string::npos;
    if (is_generated || seen.insert(name).second) {
      kept.push_back(std::move(*it));
    } else {
      words->push_back(StrCat(kind, " ", name));
    }
  }
  std::ranges::reverse(kept);
  *objects = std::move(kept);
}

}  // namespace

bool HasSubject(const World& world, std::string_view kind, std::string_view name) {
  const auto names = [&](const auto& binding) {
    return std::ranges::any_of(
        binding.subjects, [&](const rbac::Subject& s) { return s.kind == kind && s.name == name; });
  };
  return std::ranges::any_of(world.policy.cluster_role_bindings, names) ||
         std::ranges::any_of(world.policy.role_bindings, names);
}

std::optional<std::string_view> SpelledOut(const World& world, std::string_view kind,
                                           std::string_view text) {
  const std::string_view lead = kind == "User" ? "user:" : "group:";
  if (!text.starts_with(lead) || HasSubject(world, kind, text)) return std::nullopt;
  return text.substr(lead.size());
}

absl::StatusOr<rbac::UserInfo> FindUser(const World& world, std::string_view name,
                                        const std::vector<std::string>& groups) {
  rbac::UserInfo user;
  const auto spelled_out = SpelledOut(world, "User", name);
  if (spelled_out.has_value()) name = *spelled_out;
  if (name.empty()) return absl::NotFoundError("the user has no name: write user:NAME");
  const size_t slash = spelled_out.has_value() ? name.npos : name.find('/');
  if (const auto found = world.components.find(std::string(name));
      found != world.components.end() && !spelled_out.has_value()) {
    user = rbac::ServiceAccountInfo(found->second.ns, found->second.name);
  } else if (const auto account = rbac::ParseServiceAccountUser(name)) {
    user = rbac::ServiceAccountInfo(account->ns, account->name);
  } else if (slash != name.npos && name.find('/', slash + 1) == name.npos) {
    const std::string_view ns = name.substr(0, slash), sa = name.substr(slash + 1);
    if (!CheckDnsLabel(ns).ok() || !CheckDnsSubdomain(sa).ok()) {
      return absl::NotFoundError(
          StrCat("\"", name,
                 "\" is not a valid ServiceAccount: write NAMESPACE/NAME, a component, or a "
                 "user's name"));
    }
    user = rbac::ServiceAccountInfo(ns, sa);
  } else if (name == rbac::kAnonymousUser) {
    user = rbac::AnonymousInfo();
  } else {
    user = rbac::AuthenticatedInfo(name);
  }
  for (const std::string& group : groups) {
    user.groups.emplace_back(SpelledOut(world, "Group", group).value_or(group));
    if (user.groups.back().empty()) {
      return absl::NotFoundError("the group has no name: write group:NAME");
    }
  }
  return user;
}

std::string UserTitle(const World& world, std::string_view user) {
  const auto account = rbac::ParseServiceAccountUser(user);
  if (!account) return std::string(user);
  for (const auto& [component, its] : world.components) {
    if (its == *account) return component;
  }
  return StrCat(account->ns, "/", account->name);
}

void Merge(World other, World* world) {
  Append(std::move(other.policy.roles), &world->policy.roles);
  Append(std::move(other.policy.cluster_roles), &world->policy.cluster_roles);
  Append(std::move(other.policy.role_bindings), &world->policy.role_bindings);
  Append(std::move(other.policy.cluster_role_bindings), &world->policy.cluster_role_bindings);
  Append(std::move(other.custom), &world->custom);
  Append(std::move(other.later), &world->later);
  world->knows_later = world->knows_later || other.knows_later;
  world->is_whole = world->is_whole || other.is_whole;
  world->without_namespace += other.without_namespace;
  other.aggregation.merge(world->aggregation);
  world->aggregation = std::move(other.aggregation);
  world->accounts.merge(other.accounts);
  world->components.merge(other.components);
}

std::vector<std::string> RemoveRepeated(World* world) {
  std::vector<std::string> words;
  const auto name = [](const auto& object) { return object.name; };
  const auto full = [](const auto& object) { return StrCat(object.ns, "/", object.name); };
  rbac::Policy& policy = world->policy;
  KeepLast(&policy.cluster_roles, "ClusterRole", name, &words);
  KeepLast(&policy.cluster_role_bindings, "ClusterRoleBinding", name, &words);
  KeepLast(&policy.roles, "Role", full, &words);
  KeepLast(&policy.role_bindings, "RoleBinding", full, &words);
  return words;
}

void ResolveAggregates(World* world) {
  std::vector<rbac::ClusterRole>& roles = world->policy.cluster_roles;
  const auto selects = [&](const rbac::ClusterRole& role, const rbac::ClusterRole& other) {
    const auto its = world->aggregation.find(role.name);
    const auto labels = world->aggregation.find(other.name);
    if (its == world->aggregation.end() || labels == world->aggregation.end()) return false;
    return std::ranges::any_of(its->second.selectors, [&](const LabelSelector& selector) {
      return selector.Matches(labels->second.labels);
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (rbac::ClusterRole& role : roles) {
      for (const rbac::ClusterRole& other : roles) {
        if (role.name == other.name || !selects(role, other)) continue;
        for (const rbac::Rule& rule : other.rules) {
          if (std::ranges::find(role.rules, rule) != role.rules.end()) continue;
          role.rules.push_back(rule);
          changed = true;
        }
      }
    }
  }
}

void NoteSubjects(World* world) {
  const auto note = [&](const std::vector<rbac::Subject>& subjects, const std::string& ns) {
    for (const rbac::Subject& s : subjects) {
      const std::string& its = s.ns.empty() ? ns : s.ns;
      if (s.kind == "ServiceAccount" && !its.empty()) world->accounts.emplace(its, s.name);
    }
  };
  for (const auto& b : world->policy.role_bindings) note(b.subjects, b.ns);
  for (const auto& b : world->policy.cluster_role_bindings) note(b.subjects, "");
  for (const auto& [component, account] : world->components) {
    world->accounts.emplace(account.ns, account.name);
  }
}

}  // namespace mandate::rbacgen
