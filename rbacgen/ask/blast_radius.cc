#include "rbacgen/ask/blast_radius.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "manager/core/strings.h"
#include "manager/rbac/authorizer.h"
#include "manager/rbac/covers.h"
#include "manager/rbac/normalize.h"
#include "manager/rbac/risky_rights.h"
#include "rbacgen/world/builtin_policy.h"
#include "rbacgen/world/words.h"

namespace mandate::rbacgen {
namespace {

constexpr char kRbac[] = "rbac.authorization.k8s.io";

const rbac::Rule& Anything() {
  static const auto& rule = *new rbac::Rule{{"*"}, {"*"}, {"*"}, {}, {}};
  return rule;
}

// The objects that a right must reach for a step.
struct Objects {
  enum class Kind {
    kAll,   // every object, also one without a name: a rule with resourceNames does not suffice
    kSome,  // any one object: a rule with resourceNames suffices
    kNamed,
  };
  Kind kind;
  std::string_view name = {};

  bool ReachedBy(const rbac::Rule& rule) const {
    return kind == Kind::kSome || rbac::NameMatches(rule, name);
  }
};
constexpr Objects kAll = {Objects::Kind::kAll};
constexpr Objects kSome = {Objects::Kind::kSome};
Objects Named(std::string_view name) { return {Objects::Kind::kNamed, name}; }

// The namespace that stands for every namespace and for cluster scope.
const std::string& Cluster() {
  static const auto& everywhere = *new std::string;
  return everywhere;
}

using rbac::RiskyRight;

struct Way {
  std::vector<std::string_view> verbs;
  std::string_view group, resource, subresource;
};

std::vector<Way> WaysThat(RiskyRight::Becomes becomes) {
  std::vector<Way> ways;
  for (const RiskyRight& risky : rbac::RiskyRights()) {
    if (risky.becomes != becomes) continue;
    ways.push_back({risky.Verbs(), risky.group, risky.resource, risky.subresource});
  }
  return ways;
}

struct Held {
  Right right;
  std::string holder;  // an identity's title
};

// A role that is bound to a reached identity, and the namespace of the binding.
struct BoundRole {
  std::string kind, name, ns;
  auto operator<=>(const BoundRole&) const = default;
};

// The rights that Kubernetes itself gives every user, such as discovery and reviews of a user's own
// rights. Rights that only this world gives every user are an administrator's decision: the result
// has them.
const RightsByNamespace& EverybodysRights() {
  static const auto& rights = *new RightsByNamespace([] {
    const rbac::UserInfo everybody = {
        "",
        {std::string(rbac::kAuthenticatedGroup), std::string(rbac::kUnauthenticatedGroup),
         std::string(rbac::kServiceAccountsGroup)}};
    return ByNamespace(RightsOf(rbac::Authorizer(BuiltinPolicy().policy), everybody));
  }());
  return rights;
}

class Search {
 public:
  Search(const World& world)
      : world_(world), authorizer_(world.policy), namespaces_(KnownNamespaces(world)) {}

  BlastRadius Run(const std::vector<rbac::UserInfo>& start) {
    for (const rbac::UserInfo& user : start) Become(user, {UserTitle(world_, user.name), "", ""});
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
  static bool IsOf(const Held& held, std::string_view verb, std::string_view group,
                   std::string_view resource, std::string_view subresource, std::string_view ns) {
    const rbac::Rule& rule = held.right.rule;
    return (held.right.ns.empty() || held.right.ns == ns) && rbac::VerbMatches(rule, verb) &&
           rbac::GroupMatches(rule, group) && rbac::ResourceMatches(rule, resource, subresource);
  }

  // The right that allows this in `ns`, if any.
  const Held* Find(std::string_view verb, std::string_view group, std::string_view resource,
                   std::string_view subresource, std::string_view ns, Objects objects) const {
    for (size_t i = 0; i < std::min(considered_, held_.size()); ++i) {
      const Held& held = held_[i];
      if (IsOf(held, verb, group, resource, subresource, ns) &&
          objects.ReachedBy(held.right.rule)) {
        return &held;
      }
    }
    return nullptr;
  }

  // The right that allows one of the verbs, if any. A POST that creates an object has no name yet.
  const Held* FindAny(const Way& way, std::string_view ns, Objects objects) const {
    for (const std::string_view verb : way.verbs) {
      const bool nameless = verb == "create" && way.subresource.empty();
      if (const Held* held =
              Find(verb, way.group, way.resource, way.subresource, ns, nameless ? kAll : objects)) {
        return held;
      }
    }
    return nullptr;
  }

  // If so, further steps add nothing.
  bool HoldsEverything() const {
    return std::ranges::any_of(held_, [](const Held& held) {
      return held.right.ns.empty() && held.right.rule == Anything();
    });
  }

  static Step StepBy(const Held* by, std::string gained) {
    return {std::move(gained), by->holder, RuleWords(by->right.rule, by->right.ns),
            rbac::SeverityOf(by->right.rule)};
  }

  void Note(std::string gained, const Held* by) {
    result_.steps.push_back(StepBy(by, std::move(gained)));
  }

  void Become(const rbac::UserInfo& user, const Step& step) {
    const std::string& title = step.gained;
    std::string key = user.name;
    for (const std::string& group : user.groups) StrAppend(&key, "\n", group);
    if (!users_.insert(key).second) return;
    result_.steps.push_back(step);
    const bool master = std::ranges::find(user.groups, rbac::kMastersGroup) != user.groups.end();
    if (master) held_.push_back({{"", Anything(), "system:masters"}, title});
    for (Right& right : RightsOf(authorizer_, user)) held_.push_back({std::move(right), title});
    NoteBound(user);
  }

  // Notes all bindings of the user, also those to roles that allow nothing yet.
  void NoteBound(const rbac::UserInfo& user) {
    const auto note = [&](const auto& binding, const std::string& ns) {
      const bool is_bound = std::ranges::any_of(binding.subjects, [&](const rbac::Subject& s) {
        return rbac::SubjectMatches(s, user, ns);
      });
      if (is_bound) bound_.insert({binding.role_ref.kind, binding.role_ref.name, ns});
    };
    for (const auto& b : world_.policy.cluster_role_bindings) note(b, Cluster());
    for (const auto& b : world_.policy.role_bindings) note(b, b.ns);
  }

  void BecomeBy(const Held* by, const rbac::UserInfo& user, std::string title) {
    // The step is a copy, because `by` points into held_, which Become() changes.
    Become(user, StepBy(by, std::move(title)));
  }

  // Adds all rights in the namespace; everywhere if it is empty.
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
    bound_.insert({ref.kind, ref.name, ns});
    for (const rbac::Rule& rule : *rules) held_.push_back({{ns, rule, ""}, holder});
  }

  // The roles that bindings in `ns` can be made to name.
  struct Bindable {
    bool all = false;
    std::set<std::pair<std::string, std::string>> roles;  // (kind, name)

    bool Has(const std::string& kind, const std::string& name) const {
      return all || roles.contains({kind, name});
    }
  };

  Bindable BindableIn(const std::string& ns) const {
    Bindable bindable;
    const std::string resource = ns.empty() ? "clusterrolebindings" : "rolebindings";
    const Way write = {{"create", "update", "patch"}, kRbac, resource, ""};
    bindable.all = FindAny(write, ns, kAll) != nullptr;
    // A binding's role cannot change. If the world has a binding that can be written by name, its
    // role is known.
    std::set<std::string> known;
    const auto note = [&](const std::string& name, const rbac::RoleRef& ref) {
      known.insert(name);
      if (FindAny({{"update", "patch"}, kRbac, resource, ""}, ns, Named(name)) != nullptr) {
        bindable.roles.emplace(ref.kind, ref.name);
      }
    };
    if (ns.empty()) {
      for (const auto& b : world_.policy.cluster_role_bindings) note(b.name, b.role_ref);
    } else {
      for (const auto& b : world_.policy.role_bindings) {
        if (b.ns == ns) note(b.name, b.role_ref);
      }
    }
    for (const Held& held : held_) {
      if (!IsOf(held, "update", kRbac, resource, "", ns) &&
          !IsOf(held, "patch", kRbac, resource, "", ns)) {
        continue;
      }
      for (const std::string& name : held.right.rule.resource_names) {
        bindable.all = bindable.all || !known.contains(name);
      }
    }
    return bindable;
  }

  void TakeRolesIn(const std::string& ns) {
    const Bindable bindable = BindableIn(ns);
    const Held* any_role = Find("bind", kRbac, "clusterroles", "", ns, kAll);
    // Every cluster has the ClusterRole cluster-admin.
    if (bindable.all && any_role != nullptr) TakeEverything(ns, any_role);
    for (const auto& role : world_.policy.cluster_roles) {
      if (!bindable.Has("ClusterRole", role.name)) continue;
      if (const Held* by = Find("bind", kRbac, "clusterroles", "", ns, Named(role.name))) {
        TakeRole({kRbac, "ClusterRole", role.name}, ns, by);
      }
    }
    for (const auto& role : world_.policy.roles) {
      if (role.ns != ns || !bindable.Has("Role", role.name)) continue;
      if (const Held* by = Find("bind", kRbac, "roles", "", ns, Named(role.name))) {
        TakeRole({kRbac, "Role", role.name}, ns, by);
      }
    }
    const std::string kind = ns.empty() ? "clusterroles" : "roles";
    const Held* escalate = Find("escalate", kRbac, kind, "", ns, kAll);
    if (escalate == nullptr) return;
    // A holder of escalate who can rewrite every role can also rewrite one that is bound to a
    // reached identity; such a role may exist even if the world does not have it. A new role must
    // be bound first.
    const bool rewrites = FindAny({{"update", "patch"}, kRbac, kind, ""}, ns, kAll) != nullptr;
    const bool makes = Find("create", kRbac, kind, "", ns, kAll) != nullptr && bindable.all &&
                       Find("bind", kRbac, kind, "", ns, kAll) != nullptr;
    if (rewrites || makes) TakeEverything(ns, escalate);
  }

  // Adds the rights that come from rewriting a role that is bound to a reached identity.
  void EscalateBound() {
    for (const BoundRole& role : std::set<BoundRole>(bound_)) {
      const bool of_cluster = role.kind == "ClusterRole";
      const std::string& home = of_cluster ? Cluster() : role.ns;
      const std::string_view resource = of_cluster ? "clusterroles" : "roles";
      const Held* by = Find("escalate", kRbac, resource, "", home, Named(role.name));
      if (by != nullptr &&
          FindAny({{"update", "patch"}, kRbac, resource, ""}, home, Named(role.name)) != nullptr) {
        TakeEverything(role.ns, by);
      }
    }
  }

  void TakeRoles() {
    TakeRolesIn(Cluster());
    for (const std::string& ns : namespaces_) {
      if (!HoldsEverything()) TakeRolesIn(ns);
    }
    if (!HoldsEverything()) EscalateBound();
  }

  const Held* WayTo(const std::string& ns, const std::string& name) const {
    if (const Held* by = Find("create", "", "serviceaccounts", "token", ns, Named(name))) return by;
    if (const Held* by = Find("impersonate", "", "serviceaccounts", "", ns, Named(name))) return by;
    // Constrained impersonation: this right decides whom; a separate right decides which requests.
    if (const Held* by = Find("impersonate:serviceaccount", "authentication.k8s.io",
                              "serviceaccounts", "", ns, Named(name))) {
      return by;
    }
    const std::string user = rbac::ServiceAccountUser(ns, name);
    if (const Held* by = Find("impersonate", "", "users", "", Cluster(), Named(user))) return by;
    // To the pods of a namespace, and so to its ServiceAccounts; and to every pod of the cluster.
    static const auto& into_pods =
        *new std::vector<Way>(WaysThat(RiskyRight::Becomes::kAccountsOfNamespace));
    static const auto& into_nodes = *new std::vector<Way>(WaysThat(RiskyRight::Becomes::kAccounts));
    for (const Way& way : into_pods) {
      if (const Held* by = FindAny(way, ns, kSome)) return by;
    }
    for (const Way& way : into_nodes) {
      if (const Held* by = FindAny(way, Cluster(), kSome)) return by;
    }
    const Held* makes = Find("create", "", "secrets", "", ns, kAll);
    const Way read = {{"get", "list", "watch"}, "", "secrets", ""};
    return makes != nullptr && FindAny(read, ns, kSome) != nullptr ? makes : nullptr;
  }

  void TakeAccounts() {
    if (HoldsEverything()) return;
    // Only the rights that are held now count, so that each account is reached in the fewest steps.
    considered_ = held_.size();
    for (const auto& [ns, name] : world_.accounts) {
      const rbac::UserInfo user = rbac::ServiceAccountInfo(ns, name);
      if (const Held* by = WayTo(ns, name)) BecomeBy(by, user, UserTitle(world_, user.name));
    }
    considered_ = std::string::npos;
  }

  // Adds the users and groups that bindings name; a user without a binding adds no rights.
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
        if (const Held* by = Find("impersonate", "", "users", "", Cluster(), Named(name))) {
          BecomeBy(by, rbac::AuthenticatedInfo(name), name);
        }
      } else if (kind == "Group" && name != rbac::kAuthenticatedGroup) {
        if (const Held* by = Find("impersonate", "", "groups", "", Cluster(), Named(name))) {
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
    result_.rights = Gained(EverybodysRights(), result_.rights);
    if (result_.everything) result_.rights = {{"", {Anything()}}};
  }

  const World& world_;
  const rbac::Authorizer authorizer_;
  const std::set<std::string> namespaces_;
  std::vector<Held> held_;
  // Find() uses only that many of held_, from the first one
  size_t considered_ = std::string::npos;
  std::set<std::string> users_, taken_;
  std::set<BoundRole> bound_;
  BlastRadius result_;
};

}  // namespace

BlastRadius ComputeBlastRadius(const World& world, const std::vector<rbac::UserInfo>& start) {
  return Search(world).Run(start);
}

}  // namespace mandate::rbacgen
