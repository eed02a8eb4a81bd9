#include "rbacgen/analysis/blast_radius.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "manager/core/strings.h"
#include "manager/rbac/authorizer.h"
#include "manager/rbac/covers.h"
#include "manager/rbac/normalize.h"
#include "rbacgen/analysis/words.h"

namespace mandate::rbacgen {
namespace {

constexpr char kRbac[] = "rbac.authorization.k8s.io";

const rbac::Rule& Anything() {
  static const auto& rule = *new rbac::Rule{{"*"}, {"*"}, {"*"}, {}, {}};
  return rule;
}

struct Way {
  std::vector<std::string_view> verbs;
  std::string_view group, resource, subresource;
};

// What runs as a ServiceAccount of its namespace.
const std::vector<Way>& WaysIntoPods() {
  static const auto& ways = *new std::vector<Way>{
      {{"create"}, "", "pods", ""},
      {{"create", "get"}, "", "pods", "exec"},
      {{"create", "get"}, "", "pods", "attach"},
      {{"update", "patch"}, "", "pods", "ephemeralcontainers"},
      {{"create", "update", "patch"}, "", "replicationcontrollers", ""},
      {{"create", "update", "patch"}, "apps", "deployments", ""},
      {{"create", "update", "patch"}, "apps", "daemonsets", ""},
      {{"create", "update", "patch"}, "apps", "statefulsets", ""},
      {{"create", "update", "patch"}, "apps", "replicasets", ""},
      {{"create"}, "batch", "jobs", ""},
      {{"create", "update", "patch"}, "batch", "cronjobs", ""},
  };
  return ways;
}

struct Held {
  Right right;
  std::string holder;  // title
};

class Search {
 public:
  Search(const World& world)
      : world_(world), authorizer_(world.policy), namespaces_(KnownNamespaces(world)) {}

  BlastRadius Run(const std::vector<rbac::UserInfo>& start) {
    for (const rbac::UserInfo& user : start) Become(user, UserTitle(world_, user.name), "", "");
    size_t before = 0;
    do {
      before = held_.size() + result_.steps.size();
      TakeRoles();
      TakeAccounts();
      TakeUsers();
    } while (!HoldsEverything() && held_.size() + result_.steps.size() > before);
    for (const Held& held : held_) result_.rights[held.right.ns].push_back(held.right.rule);
    Simplify();
    return std::move(result_);
  }

 private:
  // The right that allows this, if any. An empty name asks for all names; an empty namespace for
  // all namespaces, or cluster scope.
  const Held* Find(std::string_view verb, std::string_view group, std::string_view resource,
                   std::string_view subresource, std::string_view ns, std::string_view name) const {
    for (const Held& held : held_) {
      const rbac::Rule& rule = held.right.rule;
      if ((held.right.ns.empty() || held.right.ns == ns) && rbac::VerbMatches(rule, verb) &&
          rbac::GroupMatches(rule, group) && rbac::ResourceMatches(rule, resource, subresource) &&
          rbac::NameMatches(rule, name)) {
        return &held;
      }
    }
    return nullptr;
  }

  // Then further steps tell nothing.
  bool HoldsEverything() const {
    return std::ranges::any_of(held_, [](const Held& held) {
      return held.right.ns.empty() && held.right.rule == Anything();
    });
  }

  const Held* FindAny(const Way& way, std::string_view ns, std::string_view name = "") const {
    for (const std::string_view verb : way.verbs) {
      if (const Held* held = Find(verb, way.group, way.resource, way.subresource, ns, name)) {
        return held;
      }
    }
    return nullptr;
  }

  void Note(std::string gained, const Held* by) {
    result_.steps.push_back(
        {std::move(gained), by->holder, RuleWords(by->right.rule, by->right.ns)});
  }

  void Become(const rbac::UserInfo& user, std::string title, std::string from, std::string how) {
    std::string key = user.name;
    for (const std::string& group : user.groups) StrAppend(&key, "\n", group);
    if (!users_.insert(key).second) return;
    result_.steps.push_back({title, std::move(from), std::move(how)});
    const bool master = std::ranges::find(user.groups, rbac::kMastersGroup) != user.groups.end();
    if (master) held_.push_back({{"", Anything(), "system:masters"}, title});
    for (Right& right : RightsOf(authorizer_, user)) held_.push_back({std::move(right), title});
  }

  void BecomeBy(const Held* by, const rbac::UserInfo& user, std::string title) {
    // Copies: `by` points into what Become grows.
    const std::string holder = by->holder, how = RuleWords(by->right.rule, by->right.ns);
    Become(user, std::move(title), holder, how);
  }

  // All rights in the namespace; everywhere if it is empty.
  void TakeEverything(const std::string& ns, const Held* by) {
    if (!taken_.insert("everything " + ns).second) return;
    const std::string holder = by->holder;
    Note(ns.empty() ? "everything" : "everything in " + ns, by);
    held_.push_back({{ns, Anything(), ""}, holder});
  }

  void TakeRole(const rbac::RoleRef& ref, const std::string& ns, const Held* by) {
    if (taken_.contains("everything ") || taken_.contains("everything " + ns)) return;
    const std::string where = ns.empty() ? "" : " in " + ns;
    if (!taken_.insert(StrCat(ref.kind, " ", ref.name, where)).second) return;
    const std::string holder = by->holder;
    const auto rules = authorizer_.Resolve(ref, ns);
    if (!rules.ok()) return;
    Note(StrCat("the ", ref.kind, " ", ref.name, where), by);
    for (const rbac::Rule& rule : *rules) held_.push_back({{ns, rule, ""}, holder});
  }

  // Whether bindings can be written in `ns`; empty: ClusterRoleBindings.
  bool Binds(const std::string& ns) const {
    return FindAny({{"create", "update", "patch"},
                    kRbac,
                    ns.empty() ? "clusterrolebindings" : "rolebindings",
                    ""},
                   ns) != nullptr;
  }

  void TakeRolesIn(const std::string& ns) {
    const bool binds = Binds(ns);
    if (binds) {
      if (const Held* any = Find("bind", kRbac, "clusterroles", "", ns, "")) {
        TakeEverything(ns, any);  // cluster-admin is there in every cluster
      }
      for (const auto& role : world_.policy.cluster_roles) {
        if (const Held* by = Find("bind", kRbac, "clusterroles", "", ns, role.name)) {
          TakeRole({kRbac, "ClusterRole", role.name}, ns, by);
        }
      }
      for (const auto& role : world_.policy.roles) {
        if (role.ns != ns) continue;
        if (const Held* by = Find("bind", kRbac, "roles", "", ns, role.name)) {
          TakeRole({kRbac, "Role", role.name}, ns, by);
        }
      }
    }
    const std::string kind = ns.empty() ? "clusterroles" : "roles";
    const Held* escalate = Find("escalate", kRbac, kind, "", ns, "");
    if (escalate == nullptr) return EscalateNamed(ns, kind);
    // A role that is bound to someone reached can be rewritten; a new one must be bound first.
    const bool rewrites = FindAny({{"update", "patch"}, kRbac, kind, ""}, ns) != nullptr;
    const bool writes = Find("create", kRbac, kind, "", ns, "") != nullptr;
    if (rewrites || (writes && binds && Find("bind", kRbac, kind, "", ns, "") != nullptr)) {
      TakeEverything(ns, escalate);
    }
  }

  // Of roles by name: worth something if one is bound to somebody who is reached.
  void EscalateNamed(const std::string& ns, const std::string& kind) {
    for (const auto& held : std::vector<Held>(held_)) {
      for (const std::string& name : held.right.rule.resource_names) {
        const Held* by = Find("escalate", kRbac, kind, "", ns, name);
        if (by == nullptr || FindAny({{"update", "patch"}, kRbac, kind, ""}, ns, name) == nullptr) {
          continue;
        }
        const std::string role = StrCat(ns.empty() ? "ClusterRole \"" : "Role \"", name,
                                        ns.empty() ? "" : "/" + ns, "\"");
        const bool bound = std::ranges::any_of(held_, [&](const Held& h) {
          return h.right.ns == ns && h.right.via.find(role) != h.right.via.npos;
        });
        if (bound) TakeEverything(ns, by);
      }
    }
  }

  void TakeRoles() {
    TakeRolesIn("");
    for (const std::string& ns : namespaces_) {
      if (!HoldsEverything()) TakeRolesIn(ns);
    }
  }

  const Held* WayTo(const std::string& ns, const std::string& name) const {
    if (const Held* by = Find("create", "", "serviceaccounts", "token", ns, name)) return by;
    if (const Held* by = Find("impersonate", "", "serviceaccounts", "", ns, name)) return by;
    // Constrained impersonation: whom; on what is granted apart.
    if (const Held* by = Find("impersonate:serviceaccount", "authentication.k8s.io",
                              "serviceaccounts", "", ns, name)) {
      return by;
    }
    if (const Held* by =
            Find("impersonate", "", "users", "", "", rbac::ServiceAccountUser(ns, name))) {
      return by;
    }
    for (const Way& way : WaysIntoPods()) {
      if (const Held* by = FindAny(way, ns)) return by;
    }
    if (const Held* by = FindAny({{"create", "get"}, "", "nodes", "proxy"}, "")) return by;
    const Held* makes = FindAny({{"create"}, "", "secrets", ""}, ns);
    return makes != nullptr && FindAny({{"get", "list", "watch"}, "", "secrets", ""}, ns) != nullptr
               ? makes
               : nullptr;
  }

  void TakeAccounts() {
    if (HoldsEverything()) return;
    for (const auto& [ns, name] : world_.accounts) {
      const rbac::UserInfo user = rbac::ServiceAccountInfo(ns, name);
      if (const Held* by = WayTo(ns, name)) BecomeBy(by, user, UserTitle(world_, user.name));
    }
  }

  // Users and groups that bindings name; what nobody granted anything gives nothing.
  void TakeUsers() {
    if (HoldsEverything()) return;
    std::set<std::pair<std::string, std::string>> subjects = {
        {"Group", std::string(rbac::kMastersGroup)}};
    const auto note = [&](const auto& bindings) {
      for (const auto& binding : bindings) {
        for (const rbac::Subject& s : binding.subjects) subjects.emplace(s.kind, s.name);
      }
    };
    note(world_.policy.role_bindings);
    note(world_.policy.cluster_role_bindings);
    for (const auto& [kind, name] : subjects) {
      if (kind == "User") {
        if (const Held* by = Find("impersonate", "", "users", "", "", name)) {
          BecomeBy(by, rbac::AuthenticatedInfo(name), name);
        }
      } else if (kind == "Group" && name != rbac::kAuthenticatedGroup) {
        if (const Held* by = Find("impersonate", "", "groups", "", "", name)) {
          BecomeBy(by, rbac::AuthenticatedInfo("somebody", {name}), "the group " + name);
        }
      }
    }
  }

  void Simplify() {
    for (auto& [ns, rules] : result_.rights) {
      const auto broad = std::ranges::find_if(rules, [](const rbac::Rule& r) {
        return r == Anything() || (rbac::VerbMatches(r, "*") && rbac::GroupMatches(r, "*") &&
                                   rbac::ResourceMatches(r, "*", "") && r.resource_names.empty());
      });
      if (broad != rules.end()) {
        if (ns.empty()) result_.everything = true;
        rules = {Anything()};
      }
    }
    const rbac::UserInfo everybody = {"", {std::string(rbac::kAuthenticatedGroup)}};
    result_.rights = Gained(ByNamespace(RightsOf(authorizer_, everybody)), result_.rights);
    if (result_.everything) result_.rights = {{"", {Anything()}}};
  }

  const World& world_;
  const rbac::Authorizer authorizer_;
  const std::set<std::string> namespaces_;
  std::vector<Held> held_;
  std::set<std::string> users_, taken_;
  BlastRadius result_;
};

}  // namespace

BlastRadius ComputeBlastRadius(const World& world, const std::vector<rbac::UserInfo>& start) {
  return Search(world).Run(start);
}

}  // namespace mandate::rbacgen
