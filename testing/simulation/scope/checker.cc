#include "testing/simulation/scope/checker.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::simulation {
namespace {

constexpr char kTemplateLabel[] = "operators.coreos.io/scopeTemplateUID";
constexpr char kInstanceLabel[] = "operators.coreos.io/scopeInstanceUID";
constexpr size_t kSuffix = 10;

std::string Uid(const Json::Value& object) { return object["metadata"]["uid"].asString(); }
std::string Name(const Json::Value& object) { return object["metadata"]["name"].asString(); }

std::string Where(const Json::Value& object) {
  return StrCat(object["kind"].asString(), " ", object["metadata"]["namespace"].asString(), "/",
                Name(object));
}

// Whether our owner reference is the only one and blocks the owner's deletion.
bool HasOurReference(const Json::Value& object, const std::string& kind, const std::string& uid) {
  const Json::Value& owners = object["metadata"]["ownerReferences"];
  return std::any_of(owners.begin(), owners.end(), [&](const Json::Value& owner) {
    return owner["kind"].asString() == kind && owner["uid"].asString() == uid &&
           owner["apiVersion"] == "operators.coreos.com/v1alpha1" && owner["controller"] == true &&
           owner["blockOwnerDeletion"] == true;
  });
}

// Whether `all` contains each of the rules.
bool IsPartOf(const Json::Value& rules, const Json::Value& all) {
  return std::all_of(rules.begin(), rules.end(), [&](const Json::Value& rule) {
    return std::find(all.begin(), all.end(), rule) != all.end();
  });
}

std::set<std::string> SubjectsOf(const Json::Value& binding) {
  std::set<std::string> subjects;
  for (const auto& s : binding["subjects"]) subjects.insert(SubjectText(s));
  return subjects;
}

}  // namespace

std::string ControllerOf(const Json::Value& object, const std::string& kind) {
  for (const auto& owner : object["metadata"]["ownerReferences"]) {
    if (owner["controller"] == true) {
      return owner["kind"].asString() == kind ? owner["uid"].asString() : "";
    }
  }
  return "";
}

std::string GenerateNameOf(std::string_view name) {
  if (!name.starts_with(kRolePrefix)) return "";
  name.remove_prefix(kRolePrefix.size());
  if (name.size() <= kSuffix || name[name.size() - kSuffix - 1] != '-') return "";
  const std::string_view suffix = name.substr(name.size() - kSuffix);
  const bool generated = std::all_of(suffix.begin(), suffix.end(), [](char c) {
    return std::string_view("bcdfghjklmnpqrstvwxz2456789").find(c) != std::string_view::npos;
  });
  return generated ? std::string(name.substr(0, name.size() - kSuffix)) : "";
}

Declared Declare(Cluster& cluster) {
  return {cluster.List(Templates()), cluster.List(Instances()), cluster.List(Namespaces())};
}

std::vector<std::string> Checker::Differences() {
  expected_ = Expect(Declare(cluster_));
  roles_.clear();
  role_seen_.clear();
  grant_seen_.clear();
  troubled_.clear();
  lacking_.clear();
  unsure_.clear();
  frozen_.clear();
  wrong_.clear();
  blocked_.clear();
  for (const auto& kind : {RoleBindings(), ClusterRoleBindings()}) {
    for (const auto& binding : cluster_.List(kind)) NoteKept(binding);
  }
  for (const auto& role : cluster_.List(ClusterRoles())) CheckRole(role);
  SpreadTrouble();
  for (const auto& binding : cluster_.List(RoleBindings())) CheckBinding(binding);
  for (const auto& binding : cluster_.List(ClusterRoleBindings())) CheckBinding(binding);
  CheckMissing();
  for (const auto& one : cluster_.List(Templates())) CheckCondition(one, "Templated");
  for (const auto& one : cluster_.List(Instances())) CheckCondition(one, "Scoped");
  return std::exchange(wrong_, {});
}

bool Checker::IsKept(const Json::Value& object, const std::string& owner_kind, bool wanted) {
  const auto held = held_.find(Uid(object));
  if (held == held_.end() || held->second.loose) return false;
  if (held->second.impostor) {
    unsure_.insert(held->second.owner_uid);
    return true;
  }
  // A finalizer alone changes nothing until the object is deleted.
  const bool kept = object["metadata"].isMember("deletionTimestamp") ||
                    ControllerOf(object, owner_kind) != held->second.owner_uid;
  if (kept) troubled_.insert(held->second.owner_uid);
  if (kept && wanted) lacking_.insert(held->second.owner_uid);
  return kept;
}

void Checker::NoteKept(const Json::Value& binding) {
  const auto held = held_.find(Uid(binding));
  if (held == held_.end()) return;
  // Its instance adopted it again.
  if (held->second.loose && !ControllerOf(binding, "ScopeInstance").empty()) return;
  const Json::Value successor = cluster_.Get(Instances(), "", held->second.owner_name);
  if (!successor.isNull() && Uid(successor) != held->second.owner_uid) {
    unsure_.insert(Uid(successor));
  }
  if (held->second.template_uid.empty()) return;
  const std::string role = binding["roleRef"]["name"].asString();
  const Json::Value is = cluster_.Get(ClusterRoles(), "", role);
  // A deleted or terminating instance adopts nothing: its binding would grant the role's new rules.
  if (held->second.loose && !is.isNull() && !binding["subjects"].empty() &&
      !Stays(Instances(), held->second.owner_uid)) {
    const auto wanted = expected_.roles.find({held->second.template_uid, GenerateNameOf(role)});
    if (wanted != expected_.roles.end() && is["rules"] != wanted->second) {
      unsure_.insert(held->second.template_uid);
      blocked_.insert(held->second.template_uid);
    }
  }
  if (is.isNull()) unsure_.insert(held->second.template_uid);
}

void Checker::SpreadTrouble() {
  for (const auto& scope_template : cluster_.List(Templates())) {
    const bool unsure = unsure_.contains(Uid(scope_template));
    if (!unsure && !troubled_.contains(Uid(scope_template))) continue;
    for (const auto& instance : cluster_.List(Instances())) {
      if (instance["spec"]["scopeTemplateName"].asString() != Name(scope_template)) continue;
      if (unsure) {
        unsure_.insert(Uid(instance));
        frozen_.insert(Uid(instance));
        continue;
      }
      troubled_.insert(Uid(instance));
      if (!lacking_.contains(Uid(scope_template))) continue;
      lacking_.insert(Uid(instance));
      frozen_.insert(Uid(instance));
    }
  }
}

bool Checker::Stays(const apiserver::GroupResource& kind, const std::string& uid) const {
  const auto all = cluster_.List(kind);
  return std::any_of(all.begin(), all.end(), [&](const Json::Value& one) {
    return Uid(one) == uid && !one["metadata"].isMember("deletionTimestamp");
  });
}

bool Checker::Exists(const apiserver::GroupResource& kind, const std::string& uid) const {
  const auto all = cluster_.store().List(kind);
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one->uid == uid; });
}

void Checker::CheckOwnerless(const Json::Value& object, const char* label,
                             const apiserver::GroupResource& owners) {
  const std::string uid = object["metadata"]["labels"][label].asString();
  if (!Exists(owners, uid)) return;
  if (owners == Templates()) {
    if (expected_.roles.contains({uid, GenerateNameOf(Name(object))})) {
      Wrong(StrCat(Where(object), " lacks its owner"));
    }
    return;
  }
  const auto role = roles_.find(object["roleRef"]["name"].asString());
  const std::string ns = object["metadata"]["namespace"].asString();
  if (role != roles_.end() && expected_.grants.contains({uid, role->second, ns}) &&
      !frozen_.contains(uid)) {
    Wrong(StrCat(Where(object), " lacks its owner"));
  } else {
    troubled_.insert(uid);
  }
}

void Checker::CheckRole(const Json::Value& role) {
  const std::string owner = ControllerOf(role, "ScopeTemplate");
  if (const auto held = held_.find(Uid(role)); held != held_.end()) {
    const RoleId id{held->second.owner_uid, GenerateNameOf(Name(role))};
    roles_[Name(role)] = id;
    const bool wanted = expected_.roles.contains(id) || expected_.roles_at_most.contains(id);
    // Without owner, label and a wanted name, its template can no longer find it.
    if (!wanted && owner.empty() && !role["metadata"]["labels"].isMember(kTemplateLabel)) return;
    if (IsKept(role, "ScopeTemplate", wanted)) return;
  }
  if (owner.empty()) {
    if (!held_.contains(Uid(role))) CheckOwnerless(role, kTemplateLabel, Templates());
    return;
  }
  ++compared_;
  const RoleId id{owner, GenerateNameOf(Name(role))};
  roles_[Name(role)] = id;
  if (!role_seen_.insert(id).second) Wrong(StrCat(Where(role), " exists twice"));
  if (expected_.frozen_templates.contains(owner)) return;
  const auto wanted = expected_.roles.find(id);
  const auto at_most = expected_.roles_at_most.find(id);
  if (wanted == expected_.roles.end() && at_most == expected_.roles_at_most.end()) {
    return Wrong(StrCat(Where(role), " is not wanted"));
  }
  const Json::Value none(Json::arrayValue);
  const Json::Value& rules = role["rules"].isNull() ? none : role["rules"];
  if (at_most != expected_.roles_at_most.end()) {
    if (!std::ranges::includes(AtomsOf(at_most->second), AtomsOf(rules))) {
      Wrong(StrCat(Where(role), " has the rules ", WriteJson(rules), ", more than ",
                   WriteJson(at_most->second)));
    }
  } else if (rules != wanted->second &&
             !(blocked_.contains(owner) && IsPartOf(rules, wanted->second))) {
    Wrong(StrCat(Where(role), " has the rules ", WriteJson(rules), ", not ",
                 WriteJson(wanted->second)));
  }
  if (!role["aggregationRule"].isNull()) Wrong(StrCat(Where(role), " has an aggregationRule"));
  if (!HasOurReference(role, "ScopeTemplate", owner)) {
    Wrong(StrCat(Where(role), " has another owner reference than ours"));
  }
  if (role["metadata"]["labels"][kTemplateLabel].asString() != owner) {
    Wrong(StrCat(Where(role), " lacks its label"));
  }
}

// The role of an invalid template, which does not create it; its bindings wait for the role.
RoleId Checker::AbsentRole(const std::string& instance, const std::string& role_name,
                           const std::string& ns) const {
  for (const auto& [grant, subjects] : expected_.grants_at_most) {
    if (grant.instance_uid == instance && grant.ns == ns &&
        grant.role.generate_name == GenerateNameOf(role_name)) {
      return grant.role;
    }
  }
  return {"?", role_name};
}

void Checker::CheckBinding(const Json::Value& binding) {
  const std::string owner = ControllerOf(binding, "ScopeInstance");
  if (IsKept(binding, "ScopeInstance", true)) return CheckKept(binding, owner);
  if (owner.empty()) {
    return CheckOwnerless(binding, kInstanceLabel, Instances());
  }
  ++compared_;
  const auto role = roles_.find(binding["roleRef"]["name"].asString());
  const std::string ns = binding["metadata"]["namespace"].asString();
  const std::string role_name = binding["roleRef"]["name"].asString();
  const GrantId id{owner, role == roles_.end() ? AbsentRole(owner, role_name, ns) : role->second,
                   ns};
  const auto wanted = expected_.grants.find(id);
  if (!expected_.Allows(id) && !frozen_.contains(owner))
    return Wrong(StrCat(Where(binding), " is not wanted"));
  if (!grant_seen_.insert(id).second && wanted != expected_.grants.end()) {
    Wrong(StrCat(Where(binding), " exists twice"));
  }
  if (const auto at_most = expected_.grants_at_most.find(id);
      at_most != expected_.grants_at_most.end() &&
      !std::ranges::includes(at_most->second, SubjectsOf(binding))) {
    Wrong(StrCat(Where(binding), " has the subjects ", WriteJson(binding["subjects"])));
  }
  if (wanted == expected_.grants.end()) return;
  // A failed template grants nothing new; subjects that it no longer names are revoked.
  const std::set<std::string> subjects = SubjectsOf(binding);
  const bool right = frozen_.contains(owner)
                         ? std::includes(wanted->second.begin(), wanted->second.end(),
                                         subjects.begin(), subjects.end())
                         : subjects == wanted->second;
  if (!right) {
    Wrong(StrCat(Where(binding), " has the subjects ", WriteJson(binding["subjects"])));
  }
  // For an instance of a failed template, only revocations are written.
  if (!frozen_.contains(owner) && !HasOurReference(binding, "ScopeInstance", owner)) {
    Wrong(StrCat(Where(binding), " has another owner reference than ours"));
  }
  if (!frozen_.contains(owner) &&
      binding["metadata"]["labels"][kInstanceLabel].asString() != owner) {
    Wrong(StrCat(Where(binding), " lacks its label"));
  }
  // The binding's name must begin with the role's generateName.
  if (!Name(binding).starts_with(id.role.generate_name)) {
    Wrong(StrCat(Where(binding), " is not named after ", id.role.generate_name));
  }
}

void Checker::CheckKept(const Json::Value& binding, const std::string& owner) {
  if (owner.empty() || binding["subjects"].empty() || Exists(Instances(), owner)) return;
  Wrong(StrCat(Where(binding), " still grants, and its instance is gone"));
}

void Checker::CheckMissing() {
  for (const auto& [id, rules] : expected_.roles) {
    if (!role_seen_.contains(id) && !lacking_.contains(id.template_uid) &&
        !unsure_.contains(id.template_uid)) {
      Wrong(StrCat("the role ", id.generate_name, " of template ", id.template_uid, " is missing"));
    }
  }
  for (const auto& [id, subjects] : expected_.grants) {
    const bool may_miss = troubled_.contains(id.instance_uid) || unsure_.contains(id.instance_uid);
    if (!grant_seen_.contains(id) && !may_miss) {
      Wrong(StrCat("the grant of ", id.role.generate_name, " in \"", id.ns, "\" for instance ",
                   id.instance_uid, " is missing"));
    }
  }
}

void Checker::CheckCondition(const Json::Value& object, const std::string& type) {
  const auto reason = expected_.reasons.find(Uid(object));
  if (reason == expected_.reasons.end() || unsure_.contains(Uid(object))) return;
  for (const auto& condition : object["status"]["conditions"]) {
    if (condition["type"].asString() != type) continue;
    const bool success = reason->second.ends_with("Successful");
    if (troubled_.contains(Uid(object))) {
      if (condition["status"].asString() != "False") {
        Wrong(StrCat(Where(object), " reports success although a stranger keeps an object"));
      }
    } else if (condition["reason"].asString() != reason->second ||
               condition["status"].asString() != (success ? "True" : "False")) {
      Wrong(StrCat(Where(object), " says ", condition["status"].asString(), " ",
                   condition["reason"].asString(), " (", condition["message"].asString(), "), not ",
                   reason->second));
    }
    if (condition["observedGeneration"] != object["metadata"]["generation"]) {
      Wrong(StrCat(Where(object), " speaks of another generation"));
    }
    return;
  }
  Wrong(StrCat(Where(object), " has no condition ", type));
}

}  // namespace mandate::simulation
