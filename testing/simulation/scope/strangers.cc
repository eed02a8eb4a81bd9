#include "testing/simulation/scope/strangers.h"

#include <functional>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/simulation/scope/checker.h"
#include "testing/simulation/scope/not_yet.h"

namespace mandate::simulation {
namespace {

using apiserver::GroupResource;

std::string Text(const Json::Value& object, const char* member) {
  return object["metadata"][member].asString();
}

// A copy without the fields that the server sets, so that it can be created.
Json::Value Fresh(Json::Value object) {
  for (const char* member : {"uid", "resourceVersion", "creationTimestamp", "managedFields",
                             "generation", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    object["metadata"].removeMember(member);
  }
  return object;
}

std::string OwnerOf(const Json::Value& object) {
  const std::string instance = ControllerOf(object, "ScopeInstance");
  return instance.empty() ? ControllerOf(object, "ScopeTemplate") : instance;
}

}  // namespace

struct Strangers::Kind {
  const char* name;
  bool roles, bindings;  // the kinds that it applies to
  std::function<void(Strangers&, const Victim&)> act;
};

const std::vector<Strangers::Kind>& Strangers::AllKinds() {
  static const auto& kinds = *new std::vector<Kind>{
      {"stranger: deletes", true, true, [](Strangers& s, const Victim& v) { s.Delete(v); }},
      {"stranger: adds rules", true, false,
       [](Strangers& s, const Victim& v) {
         s.Merge(v, R"({"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})");
       }},
      {"stranger: empties rules", true, false,
       [](Strangers& s, const Victim& v) { s.Merge(v, R"({"rules":[]})"); }},
      {"stranger: aggregates", true, false,
       [](Strangers& s, const Victim& v) {
         s.Merge(v,
                 R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"all"}}]}})");
       }},
      {"stranger: replaces subjects", false, true,
       [](Strangers& s, const Victim& v) {
         s.Merge(v, R"({"subjects":[{"kind":"User","name":"mallory"}]})");
       }},
      {"stranger: empties subjects", false, true,
       [](Strangers& s, const Victim& v) { s.Merge(v, R"({"subjects":[]})"); }},
      {"stranger: removes labels", true, true,
       [](Strangers& s, const Victim& v) { s.Merge(v, R"({"metadata":{"labels":null}})"); }},
      {"stranger: adds a label to a role", true, false,
       [](Strangers& s, const Victim& v) {
         s.Merge(v, R"({"metadata":{"labels":{"rbac.example.com/aggregate-to-all":"true"}}})");
       }},
      {"stranger: removes the owner", true, true,
       [](Strangers& s, const Victim& v) { s.RemoveOwner(v); }},
      {"stranger: replaces the owner", true, true,
       [](Strangers& s, const Victim& v) { s.ReplaceOwner(v); }},
      {"stranger: adds a finalizer", true, true,
       [](Strangers& s, const Victim& v) { s.AddFinalizer(v); }},
      {"stranger: replaces the roleRef", false, true,
       [](Strangers& s, const Victim& v) { s.ReplaceRoleRef(v); }},
      {"stranger: takes the name of a binding", false, true,
       [](Strangers& s, const Victim& v) { s.TakeName(v); }},
      {"stranger: forges a label", false, true,
       [](Strangers& s, const Victim& v) { s.ForgeLabel(v); }},
      {"stranger: holds an instance", false, true,
       [](Strangers& s, const Victim& v) { s.HoldInstance(v); }},
  };
  return kinds;
}

Strangers::Strangers(Parts parts)
    : cluster_(parts.cluster),
      dice_(parts.dice),
      tally_(parts.tally),
      guardian_(parts.guardian),
      held_(parts.held) {
  // A role that a stranger's aggregationRule selects.
  Json::Value role;
  role["apiVersion"] = "rbac.authorization.k8s.io/v1";
  role["kind"] = "ClusterRole";
  role["metadata"]["name"] = "bystander";
  role["metadata"]["labels"]["to"] = "all";
  role["rules"].append(*ParseJson(R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})"));
  cluster_.Create(ClusterRoles(), role);
  guardian_.AddForeign(Guardian::KeyOf(ClusterRoles(), "", "bystander"));
}

std::vector<std::string> Strangers::Kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : AllKinds()) names.emplace_back(kind.name);
  for (const GroupResource* kind : {&ClusterRoles(), &RoleBindings(), &ClusterRoleBindings()}) {
    names.push_back(StrCat("alone: deletes ", kind->resource));
  }
  return names;
}

std::vector<Strangers::Victim> Strangers::Victims(bool roles, bool bindings) {
  std::vector<Victim> victims;
  const auto add = [&](const GroupResource& kind) {
    for (Json::Value& object : cluster_.List(kind)) {
      if (!OwnerOf(object).empty()) victims.push_back({kind, std::move(object)});
    }
  };
  if (roles) add(ClusterRoles());
  if (bindings) add(RoleBindings());
  if (bindings) add(ClusterRoleBindings());
  return victims;
}

void Strangers::Act() {
  const Kind& kind = dice_.OneOf(AllKinds());
  const std::vector<Victim> victims = Victims(kind.roles, kind.bindings);
  if (victims.empty()) return;
  const Victim& victim = dice_.OneOf(victims);
  if (IsKept(victim)) return;
  if (NotYet().contains(kind.name)) return;
  tally_[kind.name]++;
  kind.act(*this, victim);
}

void Strangers::DeleteOne(const GroupResource& kind) {
  std::vector<Victim> victims = Victims(kind == ClusterRoles(), kind != ClusterRoles());
  std::erase_if(victims, [&](const Victim& v) { return v.kind != kind || IsKept(v); });
  if (victims.empty()) return;
  tally_[StrCat("alone: deletes ", kind.resource)]++;
  Delete(dice_.OneOf(victims));
}

void Strangers::Delete(const Victim& victim) {
  cluster_.Delete(victim.kind, Text(victim.object, "namespace"), Text(victim.object, "name"));
}

void Strangers::Merge(const Victim& victim, const std::string& patch) {
  cluster_.Merge(victim.kind, Text(victim.object, "namespace"), Text(victim.object, "name"), patch);
}

Hold Strangers::HoldOf(const Victim& victim) {
  const std::string owner = victim.object["metadata"]["ownerReferences"][0]["name"].asString();
  if (victim.kind == ClusterRoles()) return {.owner_uid = OwnerOf(victim.object)};
  return {.owner_uid = OwnerOf(victim.object),
          .template_uid = guardian_.TemplateOf(victim.object["roleRef"]["name"].asString()),
          .owner_name = owner};
}

bool Strangers::IsKept(const Victim& victim) const {
  const auto held = held_.find(Text(victim.object, "uid"));
  return held != held_.end() && !held->second.loose;
}

void Strangers::PutHold(const Victim& victim) {
  held_[Text(victim.object, "uid")] = HoldOf(victim);
  kept_.push_back(victim);
}

void Strangers::HoldInstance(const Victim& victim) {
  for (const Json::Value& instance : cluster_.List(Instances())) {
    if (Text(instance, "uid") != OwnerOf(victim.object)) continue;
    kept_.push_back({Instances(), instance});
    Merge(kept_.back(), R"({"metadata":{"finalizers":["stranger.example.com/stay"]}})");
    cluster_.Delete(Instances(), "", Text(instance, "name"));
  }
}

void Strangers::ReplaceOwner(const Victim& victim) {
  const Json::Value ns = cluster_.Get(Namespaces(), "", "default");
  Json::Value patch;
  Json::Value owner;
  owner["apiVersion"] = "v1";
  owner["kind"] = "Namespace";
  owner["name"] = "default";
  owner["uid"] = Text(ns, "uid");
  owner["controller"] = true;
  patch["metadata"]["ownerReferences"].append(owner);
  Disown(victim, WriteJson(patch));
}

void Strangers::RemoveOwner(const Victim& victim) {
  constexpr char kPatch[] = R"({"metadata":{"ownerReferences":null}})";
  // Without labels, too, the object no longer shows its owner.
  if (victim.object["metadata"]["labels"].empty()) return Disown(victim, kPatch);
  if (victim.kind != ClusterRoles()) {
    Hold& hold = held_[Text(victim.object, "uid")] = HoldOf(victim);
    hold.loose = true;
    kept_.push_back(victim);
  }
  Merge(victim, kPatch);
}

void Strangers::Disown(const Victim& victim, const std::string& patch) {
  PutHold(victim);
  if (victim.kind == ClusterRoles()) guardian_.AddTakenRole(Text(victim.object, "name"));
  Merge(victim, patch);
}

void Strangers::AddFinalizer(const Victim& victim) {
  PutHold(victim);
  Merge(victim, R"({"metadata":{"finalizers":["stranger.example.com/stay"]}})");
}

void Strangers::ReplaceRoleRef(const Victim& victim) {
  Json::Value object = Fresh(victim.object);
  object["roleRef"]["name"] = "cluster-admin";
  cluster_.Delete(victim.kind, Text(victim.object, "namespace"), Text(victim.object, "name"));
  cluster_.Create(victim.kind, object);
}

void Strangers::TakeName(const Victim& victim) {
  Json::Value object = Fresh(victim.object);
  for (const char* member : {"ownerReferences", "labels"}) object["metadata"].removeMember(member);
  object["roleRef"]["name"] = "system:discovery";
  cluster_.Delete(victim.kind, Text(object, "namespace"), Text(object, "name"));
  CreateForeign(victim.kind, object);
  const Json::Value is = cluster_.Get(victim.kind, Text(object, "namespace"), Text(object, "name"));
  // The controller may have recreated its own object first.
  if (OwnerOf(is).empty()) held_[Text(is, "uid")] = {OwnerOf(victim.object), true};
}

void Strangers::ForgeLabel(const Victim& victim) {
  Json::Value object = Fresh(victim.object);
  object["metadata"].removeMember("ownerReferences");
  object["metadata"]["name"] = StrCat("foreign-", ++serial_);
  object["roleRef"]["name"] = "system:discovery";
  CreateForeign(victim.kind, object);
  const Json::Value is = cluster_.Get(victim.kind, Text(object, "namespace"), Text(object, "name"));
  // Neither the object nor its name is ours: no instance is troubled.
  held_[Text(is, "uid")] = {"", true};
}

void Strangers::CreateForeign(const GroupResource& kind, const Json::Value& object) {
  const std::string ns = Text(object, "namespace"), name = Text(object, "name");
  if (cluster_.Create(kind, object) != 201) return;
  guardian_.AddForeign(Guardian::KeyOf(kind, ns, name));
  foreign_.push_back({kind, ns, name});
}

void Strangers::Relent() {
  for (const Victim& victim : std::exchange(kept_, {})) {
    const std::string ns = Text(victim.object, "namespace"), name = Text(victim.object, "name");
    const Json::Value is = cluster_.Get(victim.kind, ns, name);
    if (Text(is, "uid") != Text(victim.object, "uid")) continue;
    cluster_.Merge(victim.kind, ns, name, R"({"metadata":{"finalizers":null}})");
    // The stranger who took over an object deletes it.
    if (OwnerOf(is).empty() && victim.kind != Instances()) cluster_.Delete(victim.kind, ns, name);
  }
  for (const Foreign& one : std::exchange(foreign_, {})) {
    guardian_.ForgetForeign(Guardian::KeyOf(one.kind, one.ns, one.name));
    cluster_.Delete(one.kind, one.ns, one.name);
  }
  held_.clear();
}

}  // namespace mandate::simulation
