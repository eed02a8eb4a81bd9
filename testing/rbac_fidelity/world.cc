#include "testing/rbac_fidelity/world.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"
#include "manager/rbac/user.h"
#include "testing/rbac_fidelity/dice.h"

namespace mandate::fidelity {
namespace {

using Strings = std::vector<std::string>;

constexpr int kRolesPerNamespace = 4;
constexpr int kClusterRoles = 16;
constexpr int kRoleBindingsPerNamespace = 9;
constexpr int kClusterRoleBindings = 14;

Vocabulary Words(const std::string& prefix) {
  Vocabulary words;
  for (const char* ns : {"a", "b", "c"}) words.namespaces.push_back(StrCat(prefix, ns));
  for (int i = 0; i < 5; ++i) words.users.push_back(StrCat(prefix, "user-", i));
  words.users.push_back(rbac::ServiceAccountUser(words.namespaces[0], "robot"));
  words.groups = {StrCat(prefix, "dev"), StrCat(prefix, "ops"), StrCat(prefix, "qa\"s"),
                  StrCat(rbac::kServiceAccountsGroup, ":", words.namespaces[1])};
  words.service_accounts = {"robot", "agent"};
  words.granters = StrCat(prefix, "granters");
  words.verbs = {"get",   "list",   "watch", "create",          "update",
                 "patch", "delete", "bind",  "deletecollection"};
  words.api_groups = {"", "apps", "example.com"};
  words.resources = {"pods", "secrets", "deployments", "namespaces", "nodes"};
  words.subresources = {"log", "scale", "status"};
  words.names = {"web", "db", "system:one", "Bücher"};
  words.paths = {"/fid", "/fid/", "/fid/one", "/fid/one/two", "/fidelity", "/other/*/x"};
  return words;
}

class Maker {
 public:
  explicit Maker(uint64_t seed)
      : dice_(seed), prefix_(StrCat("fid-", seed, "-")), words_(Words(prefix_)) {}

  World Make() {
    rbac::Policy policy;
    for (int i = 0; i < kClusterRoles; ++i) policy.cluster_roles.push_back(MakeClusterRole(i));
    for (const std::string& ns : words_.namespaces) {
      for (int i = 0; i < kRolesPerNamespace; ++i) policy.roles.push_back(MakeRole(ns, i));
      for (int i = 0; i < kRoleBindingsPerNamespace; ++i) {
        policy.role_bindings.push_back(
            {.ns = ns, .name = StrCat(prefix_, i), .role_ref = Ref(true), .subjects = Who(ns)});
      }
    }
    for (int i = 0; i < kClusterRoleBindings; ++i) {
      policy.cluster_role_bindings.push_back(
          {.name = StrCat(prefix_, i), .role_ref = Ref(false), .subjects = Who("")});
    }
    AddRare(policy);
    AddGranters(policy);
    return {.words = std::move(words_),
            .policy = std::move(policy),
            .aggregate = prefix_ + kAggregateSuffix,
            .aggregate_parts = {RoleName(2), RoleName(3)}};
  }

 private:
  // Adds rules and bindings that random choice would omit for some seeds.
  void AddRare(rbac::Policy& policy) {
    rbac::Rule path;
    path.verbs = {"get"};
    path.non_resource_urls = {"/fid/one/*"};
    rbac::Rule any_path;
    any_path.verbs = {"bind"};
    any_path.non_resource_urls = {"*"};
    rbac::Rule one_path;
    one_path.verbs = {"get"};
    one_path.non_resource_urls = {"/fid", "/other/*/x"};
    rbac::Rule one_name;
    one_name.verbs = {"create", "deletecollection"};
    one_name.api_groups = {"example.com"};
    one_name.resources = {"deployments"};
    one_name.resource_names = {"web"};
    rbac::Rule one_sub;
    one_sub.verbs = {"*"};
    one_sub.api_groups = {"*"};
    one_sub.resources = {"pods/log", "nodes"};
    rbac::Rule star;
    star.verbs = {"get", "patch"};
    star.api_groups = {"apps"};
    star.resources = {"*"};
    const std::string name = prefix_ + "rare";
    const rbac::RoleRef ref{.kind = "ClusterRole", .name = name};
    rbac::Subject like_service_account{
        .kind = "User", .api_group = rbac::kRbacGroup, .name = words_.users.back(), .ns = ""};
    rbac::Subject service_account{
        .kind = "ServiceAccount", .api_group = "", .name = "agent", .ns = ""};
    const std::string& ns = words_.namespaces.back();
    rbac::Subject accounts{
        .kind = "Group", .api_group = rbac::kRbacGroup, .name = words_.groups.back(), .ns = ""};
    policy.cluster_role_bindings.push_back(
        {.name = name + "-accounts", .role_ref = ref, .subjects = {accounts}});
    policy.cluster_roles.push_back(
        {.name = name, .rules = {path, star, any_path, one_path, one_name, one_sub}});
    policy.cluster_role_bindings.push_back(
        {.name = name, .role_ref = ref, .subjects = {like_service_account}});
    policy.role_bindings.push_back(
        {.ns = ns, .name = name, .role_ref = ref, .subjects = {service_account}});
    policy.role_bindings.push_back({.ns = ns,
                                    .name = name + "-view",
                                    .role_ref = {.kind = "ClusterRole", .name = kAggregatedRole},
                                    .subjects = Who(ns)});
    policy.cluster_role_bindings.push_back(
        {.name = prefix_ + kAggregateSuffix,
         .role_ref = {.kind = "ClusterRole", .name = prefix_ + kAggregateSuffix},
         .subjects = Who("")});
    policy.role_bindings.push_back({.ns = ns,
                                    .name = name + "-dangling",
                                    .role_ref = {.kind = "Role", .name = prefix_ + "absent"},
                                    .subjects = Who(ns)});
  }

  // Adds permissions to write roles and bindings. One user may escalate, and another one may bind
  // some roles.
  void AddGranters(rbac::Policy& policy) {
    const auto add = [&](const std::string& what, rbac::Rule rule, const std::string& kind,
                         const std::string& who) {
      const std::string name = StrCat(prefix_, what);
      rule.api_groups = {rbac::kRbacGroup};
      policy.cluster_roles.push_back({.name = name, .rules = {std::move(rule)}});
      policy.cluster_role_bindings.push_back(
          {.name = name,
           .role_ref = {.kind = "ClusterRole", .name = name},
           .subjects = {{.kind = kind, .api_group = rbac::kRbacGroup, .name = who, .ns = ""}}});
    };
    rbac::Rule rule;
    rule.verbs = {"create"};
    rule.resources = {"roles", "clusterroles", "rolebindings", "clusterrolebindings"};
    add("grant", rule, "Group", words_.granters);
    rule.verbs = {"escalate"};
    rule.resources = {"clusterroles"};
    add("escalate", rule, "User", words_.users[1]);
    rule.verbs = {"bind"};
    words_.bindable = {RoleName(0), RoleName(2), RoleName(3), StrCat(prefix_, "absent-0")};
    rule.resource_names = words_.bindable;
    add("bind", rule, "User", words_.users[2]);
    const rbac::ClusterRoleBinding& everywhere = policy.cluster_role_bindings.back();
    rbac::RoleBinding local{.ns = words_.namespaces.front(),
                            .name = everywhere.name,
                            .role_ref = everywhere.role_ref,
                            .subjects = everywhere.subjects};
    local.subjects.front().name = words_.users[3];
    policy.role_bindings.push_back(std::move(local));
  }

  // The names of roles may contain almost any character.
  std::string RoleName(size_t i) const {
    return i == 0 ? StrCat(prefix_, "the \"first\": ü") : StrCat(prefix_, "role-", i);
  }

  rbac::ClusterRole MakeClusterRole(int i) {
    if (i == 1) return {.name = RoleName(i), .rules = {}};
    rbac::ClusterRole role{.name = RoleName(i), .rules = {}};
    for (size_t n = 1 + dice_.Below(3); n > 0; --n) {
      role.rules.push_back(dice_.Chance(25) ? PathRule() : ResourceRule());
    }
    return role;
  }

  rbac::Role MakeRole(const std::string& ns, int i) {
    rbac::Role role{.ns = ns, .name = RoleName(i), .rules = {}};
    for (size_t n = 1 + dice_.Below(3); n > 0; --n) role.rules.push_back(ResourceRule());
    return role;
  }

  rbac::Rule ResourceRule() {
    rbac::Rule rule;
    rule.verbs = Verbs();
    rule.api_groups = dice_.Chance(12)  ? Strings{"*"}
                      : dice_.Chance(8) ? Strings{"app*"}
                                        : dice_.Some(words_.api_groups, 2);
    for (size_t n = 1 + dice_.Below(3); n > 0; --n) rule.resources.push_back(Resource());
    if (dice_.Chance(35)) {
      rule.resource_names = dice_.Some(words_.names, 2);
      if (dice_.Chance(15)) rule.resource_names.push_back(dice_.Chance(50) ? "" : "*");
      if (dice_.Chance(15)) rule.resource_names.push_back(dice_.Pick(words_.namespaces));
    }
    return rule;
  }

  rbac::Rule PathRule() {
    rbac::Rule rule;
    rule.verbs = Verbs();
    for (size_t n = 1 + dice_.Below(2); n > 0; --n) {
      rule.non_resource_urls.push_back(
          dice_.Pick(Strings{"/fid", "/fid/", "/fid/*", "/fid/one**", "/fid*", "/other/*/x",
                             "/*/one", "/fid/one/two", "*"}));
    }
    return rule;
  }

  Strings Verbs() {
    if (dice_.Chance(12)) return {"*"};
    if (dice_.Chance(6)) return {"Get", "ge*", "list"};
    return dice_.Some(words_.verbs, 4);
  }

  std::string Resource() {
    const std::string& resource = dice_.Pick(words_.resources);
    const std::string& sub = dice_.Pick(words_.subresources);
    switch (dice_.Below(12)) {
      case 0:
        return "*";
      case 1:
      case 2:
        return StrCat("*/", sub);
      case 3:
      case 4:
        return StrCat(resource, "/", sub);
      case 5:
        return StrCat(resource, "/*");
      case 6:
        return dice_.Pick(Strings{"*/*", "pod*", "Pods", "p/log"});
      default:
        return resource;
    }
  }

  rbac::RoleRef Ref(bool in_namespace) {
    rbac::RoleRef ref;
    if (in_namespace && dice_.Chance(50)) {
      ref.kind = "Role";
      ref.name = RoleName(dice_.Below(kRolesPerNamespace));
    } else {
      ref.kind = "ClusterRole";
      ref.name = RoleName(dice_.Below(kClusterRoles));
    }
    if (dice_.Chance(5)) ref.name = StrCat(prefix_, "absent-", dice_.Below(3));
    if (ref.kind == "ClusterRole" && in_namespace && dice_.Chance(12)) {
      ref.name = kAggregatedRole;
    }
    return ref;
  }

  std::vector<rbac::Subject> Who(const std::string& ns) {
    std::vector<rbac::Subject> subjects;
    for (size_t n = 1 + dice_.Below(3); n > 0; --n) {
      rbac::Subject subject{.kind = "User", .api_group = rbac::kRbacGroup, .name = "", .ns = ""};
      switch (dice_.Below(3)) {
        case 0:
          subject.name = dice_.Pick(words_.users);
          break;
        case 1:
          subject.kind = "Group";
          subject.name = dice_.Pick(words_.groups);
          break;
        default:
          subject.kind = "ServiceAccount";
          subject.api_group = "";
          subject.name = dice_.Pick(words_.service_accounts);
          // In a ClusterRoleBinding, a ServiceAccount must have a namespace.
          if (ns.empty() || dice_.Chance(50)) subject.ns = dice_.Pick(words_.namespaces);
      }
      subjects.push_back(std::move(subject));
    }
    return subjects;
  }

  Dice dice_;
  const std::string prefix_;
  Vocabulary words_;
};

}  // namespace

std::vector<rbac::Rule> World::AggregateRules() const {
  std::vector<rbac::Rule> rules;
  for (const rbac::ClusterRole& role : policy.cluster_roles) {
    if (std::find(aggregate_parts.begin(), aggregate_parts.end(), role.name) ==
        aggregate_parts.end()) {
      continue;
    }
    rules.insert(rules.end(), role.rules.begin(), role.rules.end());
  }
  return rules;
}

World MakeWorld(uint64_t seed) { return Maker(seed).Make(); }

}  // namespace mandate::fidelity
