#include "testing/simulation/scope/author.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/simulation/scope/not_yet.h"

namespace mandate::simulation {
namespace {

Json::Value Object(const std::string& api_version, const std::string& kind,
                   const std::string& name) {
  Json::Value object;
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  object["metadata"]["name"] = name;
  return object;
}

Json::Value NamespaceObject(const std::string& name) {
  Json::Value ns = Object("v1", "Namespace", name);
  ns["metadata"]["labels"]["ours"] = "yes";
  return ns;
}

Json::Value Subject(const std::string& kind, const std::string& name) {
  Json::Value subject;
  subject["kind"] = kind;
  subject["name"] = name;
  if (kind == "ServiceAccount") subject["namespace"] = "n0";
  return subject;
}

}  // namespace

Author::Author(Options options, Cluster& cluster, Dice& dice, Tally& tally)
    : options_(options), cluster_(cluster), dice_(dice), tally_(tally) {
  for (int i = 0; i < (options_.namespaces + 1) / 2; ++i) {
    cluster_.Create(Namespaces(), NamespaceObject(StrCat("n", i)));
  }
}

std::vector<std::string> Author::Kinds() {
  return {"template created",
          "template edited",
          "template deleted",
          "template: rules emptied",
          "template: empty rules",
          "template: invalid",
          "template: a name without a dash",
          "instance created",
          "instance edited",
          "instance deleted",
          "instance: narrowed from the cluster",
          "namespace created",
          "namespace deleted",
          "namespace labelled"};
}

void Author::Act() {
  const int die = dice_.Pick(12);
  if (die < 3) return EditTemplate();
  if (die < 9) return EditInstance();
  EditNamespace();
}

Json::Value Author::Subjects() {
  Json::Value subjects(Json::arrayValue);
  for (int i = dice_.Pick(3); i >= 0; --i) {
    const std::vector<std::string> kinds = {"User", "Group", "ServiceAccount"};
    subjects.append(Subject(dice_.OneOf(kinds), StrCat("s", dice_.Pick(3))));
  }
  // Removes repeated subjects.
  Json::Value once(Json::arrayValue);
  for (const auto& subject : subjects) {
    bool known = false;
    for (const auto& other : once) known = known || other == subject;
    if (!known) once.append(subject);
  }
  return once;
}

Json::Value Author::Role(int index) {
  const std::vector<std::string> names = {"view-", "edit-", "ops.Things-"};
  Json::Value role;
  role["generateName"] = names[static_cast<size_t>(index)];
  if (dice_.OneIn(8) && !NotYet().contains("template: a name without a dash")) {
    tally_["template: a name without a dash"]++;
    role["generateName"] = StrCat("plain-", dice_.Pick(2), "x");
  }
  role["rules"] = Json::Value(Json::arrayValue);
  const bool empty = dice_.OneIn(6) && !NotYet().contains("template: empty rules");
  if (empty) tally_["template: empty rules"]++;
  for (int i = empty ? 0 : 1 + dice_.Pick(2); i > 0; --i) {
    Json::Value rule;
    rule["apiGroups"].append("");
    rule["resources"].append(dice_.OneIn(2) ? "pods" : "secrets");
    rule["verbs"].append(dice_.OneIn(2) ? "get" : "list");
    role["rules"].append(rule);
  }
  const int where = dice_.Pick(3);
  if (where == 0) role["subjects"] = Subjects();
  if (where == 1) role["bindingTemplate"]["subjects"] = Subjects();
  return role;
}

void Author::Invalidate(Json::Value& spec) {
  Json::Value& role = spec["clusterRoles"][0];
  switch (dice_.Pick(4)) {
    case 0:
      spec.removeMember("bindingTemplate");
      role.removeMember("subjects");
      role.removeMember("bindingTemplate");
      return;
    case 1: {
      Json::Value nowhere;
      nowhere["kind"] = "ServiceAccount";
      nowhere["name"] = "nowhere";
      role["subjects"].append(nowhere);
      return;
    }
    case 2: {
      Json::Value rule;
      rule["apiGroups"].append("");
      rule["resources"].append("pods");
      rule["verbs"] = Json::Value(Json::arrayValue);
      role["rules"].append(rule);
      return;
    }
    default:
      spec["clusterRoles"].append(Role(0));
      spec["clusterRoles"][spec["clusterRoles"].size() - 1]["generateName"] = role["generateName"];
  }
}

Json::Value Author::TemplateSpec() {
  Json::Value spec;
  spec["clusterRoles"] = Json::Value(Json::arrayValue);
  for (int i = 0; i <= dice_.Pick(3); ++i) spec["clusterRoles"].append(Role(i));
  spec["bindingTemplate"]["subjects"] = Subjects();
  if (dice_.OneIn(8) && !NotYet().contains("template: invalid")) {
    tally_["template: invalid"]++;
    Invalidate(spec);
  }
  return spec;
}

Json::Value Author::Selector() {
  Json::Value selector(Json::objectValue);
  const int form = dice_.Pick(5);
  if (form == 0) selector["team"] = "x";
  if (form == 1) selector["matchLabels"]["team"] = "x";
  if (form >= 2 && form < 4) {
    const std::vector<std::string> operators = {"In", "NotIn", "Exists", "DoesNotExist"};
    Json::Value one;
    one["key"] = "team";
    one["operator"] = dice_.OneOf(operators);
    if (one["operator"].asString().ends_with("In")) one["values"].append("x");
    selector["matchExpressions"].append(one);
    // Excludes the manager's own namespace and the server's.
    Json::Value ours;
    ours["key"] = "ours";
    ours["operator"] = "Exists";
    selector["matchExpressions"].append(ours);
  }
  return selector;
}

Json::Value Author::InstanceSpec() {
  Json::Value spec;
  spec["scopeTemplateName"] = StrCat("t", dice_.Pick(options_.templates));
  spec["namespaces"] = Json::Value(Json::arrayValue);
  if (!dice_.OneIn(4)) {
    for (int i = 0; i < options_.namespaces; ++i) {
      if (dice_.OneIn(2)) spec["namespaces"].append(StrCat("n", i));
    }
  }
  if (dice_.OneIn(3)) spec["namespaceSelector"] = Selector();
  return spec;
}

void Author::Put(const apiserver::GroupResource& kind, const std::string& object_kind,
                 const std::string& name, const Json::Value& spec, const std::string& what) {
  Json::Value object = cluster_.Get(kind, "", name);
  if (!object.isNull()) {
    tally_[what + " edited"]++;
    object["spec"] = spec;
    cluster_.Do("PUT", PathOf(kind, "", name), WriteJson(object));
    return;
  }
  object = Object("operators.coreos.com/v1alpha1", object_kind, name);
  object["spec"] = spec;
  tally_[what + " created"]++;
  cluster_.Create(kind, object);
}

void Author::Empty(const Json::Value& scope_template) {
  tally_["template: rules emptied"]++;
  Json::Value patch;
  patch["spec"]["clusterRoles"] = scope_template["spec"]["clusterRoles"];
  for (auto& role : patch["spec"]["clusterRoles"]) role["rules"] = Json::Value(Json::arrayValue);
  cluster_.Merge(Templates(), "", scope_template["metadata"]["name"].asString(), WriteJson(patch));
}

void Author::EditTemplate() {
  const std::string name = StrCat("t", dice_.Pick(options_.templates));
  const Json::Value is = cluster_.Get(Templates(), "", name);
  if (!is.isNull() && dice_.OneIn(6)) {
    tally_["template deleted"]++;
    cluster_.Delete(Templates(), "", name, dice_.OneIn(3) ? "Foreground" : "");
    return;
  }
  if (!is.isNull() && dice_.OneIn(4) && !NotYet().contains("template: rules emptied")) {
    return Empty(is);
  }
  Put(Templates(), "ScopeTemplate", name, TemplateSpec(), "template");
}

void Author::Narrow(const Json::Value& instance) {
  tally_["instance: narrowed from the cluster"]++;
  cluster_.Merge(Instances(), "", instance["metadata"]["name"].asString(),
                 R"({"spec":{"namespaces":["n0"]}})");
}

void Author::EditInstance() {
  const std::string name = StrCat("i", dice_.Pick(options_.instances));
  const Json::Value is = cluster_.Get(Instances(), "", name);
  if (!is.isNull() && dice_.OneIn(6)) {
    tally_["instance deleted"]++;
    cluster_.Delete(Instances(), "", name, dice_.OneIn(3) ? "Foreground" : "");
    return;
  }
  const bool in_cluster =
      !is.isNull() && is["spec"]["namespaces"].empty() && !is["spec"].isMember("namespaceSelector");
  if (in_cluster && dice_.OneIn(2) && !NotYet().contains("instance: narrowed from the cluster")) {
    return Narrow(is);
  }
  Put(Instances(), "ScopeInstance", name, InstanceSpec(), "instance");
}

void Author::EditNamespace() {
  const std::string name = StrCat("n", dice_.Pick(options_.namespaces));
  if (cluster_.Get(Namespaces(), "", name).isNull()) {
    tally_["namespace created"]++;
    cluster_.Create(Namespaces(), NamespaceObject(name));
    return;
  }
  if (dice_.OneIn(4)) {
    tally_["namespace deleted"]++;
    cluster_.Delete(Namespaces(), "", name);
    return;
  }
  LabelNamespace();
}

void Author::LabelNamespace() {
  const std::string name = StrCat("n", dice_.Pick(options_.namespaces));
  const Json::Value is = cluster_.Get(Namespaces(), "", name);
  if (is.isNull()) return;
  tally_["namespace labelled"]++;
  cluster_.Merge(Namespaces(), "", name,
                 is["metadata"]["labels"].isMember("team")
                     ? R"({"metadata":{"labels":{"team":null}}})"
                     : R"({"metadata":{"labels":{"team":"x"}}})");
}

}  // namespace mandate::simulation
