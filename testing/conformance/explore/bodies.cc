#include "testing/conformance/explore/bodies.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::conformance::explore {
namespace {

constexpr char kRbac[] = "/apis/rbac.authorization.k8s.io/v1";
constexpr char kRbacVersion[] = "rbac.authorization.k8s.io/v1";

// The first resource is picked most often.
const std::vector<std::pair<Resource, int>>& Resources() {
  static const auto* const kAll = new std::vector<std::pair<Resource, int>>{
      {{"/api/v1", "v1", "ConfigMap", "configmaps", true, false}, 8},
      {{"/apis/explore.example.com/v1", "explore.example.com/v1", "Widget", "widgets", true, true},
       6},
      {{"/api/v1", "v1", "Secret", "secrets", true, false}, 3},
      {{"/apis/coordination.k8s.io/v1", "coordination.k8s.io/v1", "Lease", "leases", true, false},
       3},
      {{kRbac, kRbacVersion, "Role", "roles", true, false}, 3},
      {{kRbac, kRbacVersion, "RoleBinding", "rolebindings", true, false}, 3},
      {{"/api/v1", "v1", "ServiceAccount", "serviceaccounts", true, false}, 2},
      {{kRbac, kRbacVersion, "ClusterRole", "clusterroles", false, false}, 2},
      {{kRbac, kRbacVersion, "ClusterRoleBinding", "clusterrolebindings", false, false}, 2},
      {{"/api/v1", "v1", "Namespace", "namespaces", false, true}, 1},
  };
  return *kAll;
}

// Parses a literal of this file; invalid JSON is a bug of this file.
Json::Value J(const std::string& text) {
  auto parsed = ParseJson(text);
  if (!parsed.ok()) std::abort();
  return *std::move(parsed);
}

Json::Value OneOf(Dice& dice, std::initializer_list<const char*> texts) {
  return J(dice.Pick(texts));
}

Json::Value Rule(Dice& dice) {
  return OneOf(
      dice,
      {R"({"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]})",
       R"({"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch"]})",
       R"({"apiGroups":[""],"resources":["secrets"],"verbs":["get"],"resourceNames":["a"]})",
       R"({"apiGroups":["*"],"resources":["*"],"verbs":["*"]})",
       R"({"apiGroups":[""],"resources":["configmaps/status"],"verbs":["update"]})",
       R"({"nonResourceURLs":["/metrics"],"verbs":["get"]})",
       R"({"apiGroups":[""],"resources":["configmaps"],"verbs":[]})",
       R"({"resources":["configmaps"],"verbs":["get"]})", R"({"apiGroups":[""],"verbs":["get"]})",
       R"({"apiGroups":[""],"resources":["configmaps"],"verbs":["get"],"nonResourceURLs":["/x"]})"});
}

// The users and groups belong to this sequence, because a ClusterRoleBinding affects all sequences
// that run at the same time.
Json::Value Subject(Dice& dice) {
  return OneOf(dice, {R"({"kind":"User","name":"@{ns}-u"})", R"({"kind":"Group","name":"@{ns}-g"})",
                      R"({"kind":"ServiceAccount","name":"s","namespace":"default"})",
                      R"({"kind":"ServiceAccount","name":"s"})",
                      R"({"kind":"User","name":"@{ns}-u","apiGroup":"rbac.authorization.k8s.io"})",
                      R"({"kind":"User","name":""})", R"({"kind":"Robot","name":"r"})",
                      R"({"kind":"User","name":"@{ns}-u","apiGroup":"x"})",
                      R"({"kind":"ServiceAccount","name":"S_","namespace":"default"})"});
}

void FillRbac(const std::string& kind, Json::Value& object, Dice& dice) {
  if (kind == "Role" || kind == "ClusterRole") {
    object["rules"] = Json::Value(Json::arrayValue);
    for (size_t n = dice.Below(3); n > 0; --n) object["rules"].append(Rule(dice));
    if (kind == "ClusterRole" && dice.Chance(10)) {
      object["aggregationRule"] =
          J(R"({"clusterRoleSelectors":[{"matchLabels":{"none":"none"}}]})");
    }
    return;
  }
  Json::Value& role = object["roleRef"];
  role = OneOf(dice,
               {R"({"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"})",
                R"({"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"@{ns}-a"})",
                R"({"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"absent"})",
                R"({"kind":"ClusterRole","name":"view"})",
                R"({"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"a"})",
                R"({"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":""})",
                R"({"apiGroup":"x","kind":"Role","name":"a"})",
                R"({"apiGroup":"rbac.authorization.k8s.io","kind":"Other","name":"a"})"});
  object["subjects"] = Json::Value(Json::arrayValue);
  for (size_t n = dice.Below(3); n > 0; --n) object["subjects"].append(Subject(dice));
}

void FillWidget(Json::Value& object, Dice& dice) {
  object["spec"]["size"] = static_cast<int>(dice.Below(5));
  if (dice.Chance(30)) object["spec"]["color"] = dice.Pick({"red", "green"});
  if (dice.Chance(20)) object["spec"]["tags"] = OneOf(dice, {R"(["x"])", R"(["x","y"])", R"([])"});
  if (dice.Chance(30)) {
    object["spec"]["parts"] =
        OneOf(dice, {R"([{"name":"p"}])", R"([{"name":"p","count":2},{"name":"q"}])", R"([])"});
  }
  if (dice.Chance(20)) object["spec"]["free"] = OneOf(dice, {R"({"a":{"b":[1,2.5,null]}})", "{}"});
  if (dice.Chance(20)) object["status"] = J(R"({"phase":"Ready"})");
}

void Fill(const std::string& kind, Json::Value& object, Dice& dice) {
  if (kind == "ConfigMap") {
    object["data"]["k"] = dice.Pick({"v", "w", ""});
    if (dice.Chance(20)) object["data"]["l"] = "x";
    if (dice.Chance(10)) object["binaryData"]["b"] = "AAEC";
    if (dice.Chance(5)) object["immutable"] = dice.Chance(70);
  } else if (kind == "Secret") {
    object[dice.Chance(50) ? "data" : "stringData"]["k"] = "dmFs";
    if (dice.Chance(30)) object["type"] = dice.Pick({"Opaque", "example.com/t"});
    if (dice.Chance(5)) object["immutable"] = true;
  } else if (kind == "Lease") {
    object["spec"] = OneOf(dice, {R"({"holderIdentity":"h","leaseDurationSeconds":10})", "{}",
                                  R"({"renewTime":"2020-01-01T00:00:00.000000Z"})",
                                  R"({"leaseDurationSeconds":15,"leaseTransitions":1})"});
  } else if (kind == "Widget") {
    FillWidget(object, dice);
  } else if (kind == "ServiceAccount") {
    if (dice.Chance(30)) object["automountServiceAccountToken"] = false;
    if (dice.Chance(20)) object["secrets"] = J(R"([{"name":"s"}])");
  } else if (std::string(object["apiVersion"].asString()) == kRbacVersion) {
    FillRbac(kind, object, dice);
  }
}

Json::Value OwnerReference(Dice& dice) {
  return OneOf(
      dice,
      {R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"11111111-1111-4111-8111-111111111111"})",
       R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":""})",
       R"({"apiVersion":"","kind":"ConfigMap","name":"o","uid":"u"})",
       R"({"apiVersion":"v1","kind":"Event","name":"o","uid":"u"})",
       R"({"apiVersion":"v1","kind":"","name":"","uid":"u","controller":true})"});
}

// Values of the wrong type, for any member.
Json::Value Wrong(Dice& dice) {
  return OneOf(dice, {"1", "\"x\"", "[]", "{}", "true", "null", "1.5", "[\"x\"]", "{\"x\":\"y\"}"});
}

void DisturbMeta(Json::Value& metadata, Dice& dice) {
  switch (dice.Below(16)) {
    case 0:
      metadata["labels"] = OneOf(dice, {R"({"a_":"1"})", R"({"-":"x"})", R"({"a":"b c"})",
                                        R"({"x/y/z":""})", "{}", "null"});
      break;
    case 1:
      metadata["annotations"] =
          OneOf(dice, {R"({"A/b":"1"})", R"({"bad key":"x"})", R"({"a":""})", "{}"});
      break;
    case 2:
      metadata["finalizers"] =
          OneOf(dice, {R"(["example.com/f"])", R"(["example.com/f","example.com/g"])", R"(["bad"])",
                       R"(["x y/z"])", "[]"});
      break;
    case 3:
      if (!metadata["ownerReferences"].isArray()) metadata.removeMember("ownerReferences");
      metadata["ownerReferences"].append(OwnerReference(dice));
      break;
    case 4:
      metadata["name"] = dice.Pick({"A", "a_b", "a.b", "-a", "a/b", "%", ""});
      break;
    case 5:
      metadata["namespace"] = dice.Pick({"default", "", "@{ns}", "BAD"});
      break;
    case 6:
      metadata["generateName"] = MakeGenerateName(dice);
      if (dice.Chance(30)) metadata["generateName"] = "";
      // Most kinds do not allow this generateName.
      if (dice.Chance(50)) metadata["generateName"] = StrCat("X-", MakeGenerateName(dice));
      break;
    case 7:
      metadata["resourceVersion"] = dice.Pick({"@{rv:a}", "@{rv0:a}", "x", "", "0", "1"});
      break;
    case 8:
      metadata["uid"] = dice.Pick({"@{uid:a}", "@{uid:b}", "x", ""});
      break;
    case 9:
      metadata["creationTimestamp"] =
          OneOf(dice, {"null", "\"2001-02-03T04:05:06Z\"", "\"x\"", "1"});
      break;
    case 10:
      metadata["deletionTimestamp"] = OneOf(dice, {"null", "\"2001-02-03T04:05:06Z\""});
      break;
    case 11:
      metadata["generation"] = OneOf(dice, {"1", "7", "0", "-1", "\"1\""});
      break;
    case 12:
      metadata["managedFields"] = OneOf(
          dice,
          {"[]", "[{}]",
           R"([{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}])",
           R"([{"manager":"m","operation":"Bad"}])", "null"});
      break;
    case 13:
      metadata["selfLink"] = "/x";
      break;
    case 14:
      if (!metadata["labels"].isObject()) metadata.removeMember("labels");
      metadata["labels"]["l"] = Wrong(dice);
      break;
    default:
      metadata[dice.Pick({"labels", "annotations", "finalizers", "ownerReferences", "name",
                          "unknown"})] = Wrong(dice);
  }
}

void DisturbWidget(Json::Value& object, Dice& dice) {
  Json::Value& spec = object["spec"];
  if (!spec.isObject()) return;
  switch (dice.Below(9)) {
    case 0:
      spec["size"] = OneOf(dice, {"-1", "11", "\"1\"", "1.0", "1.5", "null", "9999999999999"});
      break;
    case 1:
      spec["color"] = OneOf(dice, {"\"blue\"", "\"\"", "null", "1"});
      break;
    case 2:
      spec["label"] = OneOf(dice, {"\"abcdef\"", "\"A\"", "\"\"", "\"abc\"", "\"ABCDEF\""});
      break;
    case 3:
      spec["tags"] = OneOf(dice, {R"(["x","x"])", R"(["a","b","c","d"])", "[1]", "null", "[null]"});
      break;
    case 4:
      spec["parts"] = OneOf(dice, {R"([{"name":"p"},{"name":"p"}])", R"([{"count":1}])",
                                   R"([{"name":"p","x":1}])", "{}", "[null]"});
      break;
    case 5:
      spec["limits"] = OneOf(dice, {R"({"a":1})", R"({"a":"x"})", R"({"a":null})"});
      break;
    case 6:
      spec["gone"] = OneOf(dice, {"null", "\"x\"", "1"});
      break;
    case 7:
      spec["unknown"] = Wrong(dice);
      break;
    default:
      spec.removeMember("size");
  }
}

}  // namespace

const Resource& Configmaps() { return Resources().front().first; }

const Resource& PickResource(Dice& dice) {
  size_t sum = 0;
  for (const auto& [resource, weight] : Resources()) sum += weight;
  size_t at = dice.Below(sum);
  for (const auto& [resource, weight] : Resources()) {
    if (at < static_cast<size_t>(weight)) return resource;
    at -= weight;
  }
  return Configmaps();
}

std::string PickName(const Resource& resource, Dice& dice) {
  const std::string name = dice.Chance(60) ? "a" : dice.Pick({"b", "c"});
  return resource.namespaced ? name : StrCat("@{ns}-", name);
}

std::string MakeGenerateName(Dice& dice) {
  std::string prefix = "gen-";
  for (int i = 0; i < 4; ++i) prefix += static_cast<char>('a' + dice.Below(26));
  return prefix + "-";
}

Json::Value MakeObject(const Resource& resource, const std::string& name, Dice& dice) {
  Json::Value object;
  object["apiVersion"] = resource.api_version;
  object["kind"] = resource.kind;
  Json::Value& metadata = object["metadata"];
  metadata["name"] = name;
  if (!resource.namespaced) metadata["labels"]["seq"] = "@{ns}";
  if (dice.Chance(40)) metadata["labels"]["l"] = dice.Pick({"1", "2", "5", ""});
  if (dice.Chance(15)) metadata["labels"]["m"] = "x";
  if (dice.Chance(10)) metadata["annotations"]["n"] = "x";
  if (dice.Chance(8)) metadata["finalizers"].append("example.com/f");
  Fill(resource.kind, object, dice);
  return object;
}

void Disturb(const Resource& resource, Json::Value& object, Dice& dice) {
  for (size_t n = 1 + dice.Below(2); n > 0; --n) {
    const size_t which = dice.Below(10);
    if (which < 5 && object["metadata"].isObject()) {
      DisturbMeta(object["metadata"], dice);
    } else if (which < 7 && std::string(resource.kind) == "Widget") {
      DisturbWidget(object, dice);
    } else if (which == 7) {
      object[dice.Pick({"kind", "apiVersion"})] =
          OneOf(dice, {"\"Secret\"", "\"v2\"", "\"\"", "1", "\"x/y/z\"", "\"List\""});
    } else if (which == 8) {
      object.removeMember(dice.Pick({"kind", "apiVersion", "metadata"}));
    } else {
      object[dice.Pick({"data", "spec", "rules", "subjects", "roleRef", "type", "immutable",
                        "metadata", "unknown", "status", "stringData", "binaryData"})] =
          Wrong(dice);
    }
  }
  // A cluster-scoped name must not belong to another sequence.
  const Json::Value* metadata = FindMember(object, "metadata");
  const Json::Value* name = metadata == nullptr ? nullptr : FindMember(*metadata, "name");
  if (resource.namespaced || name == nullptr || !name->isString()) return;
  const std::string text = name->asString();
  if (!text.empty() && text.find("@{ns}") == text.npos) {
    object["metadata"]["name"] = StrCat("@{ns}", text);
  }
}

}  // namespace mandate::conformance::explore
