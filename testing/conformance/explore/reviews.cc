#include "testing/conformance/explore/reviews.h"

#include <cctype>

#include "manager/core/strings.h"

namespace mandate::conformance::explore {

ReviewRequest MakeReview(Dice& dice) {
  const std::string ns = dice.Pick({"@{ns}", "", "default"});
  Json::Value body;
  const std::string kind =
      dice.Pick({"SelfSubjectAccessReview", "SubjectAccessReview", "LocalSubjectAccessReview",
                 "SelfSubjectRulesReview", "SelfSubjectReview", "TokenReview"});
  const bool authentication = kind == "SelfSubjectReview" || kind == "TokenReview";
  body["apiVersion"] = authentication ? "authentication.k8s.io/v1" : "authorization.k8s.io/v1";
  body["kind"] = kind;
  Json::Value& spec = body["spec"] = Json::Value(Json::objectValue);
  if (kind == "SelfSubjectRulesReview") {
    if (dice.Chance(85)) spec["namespace"] = ns;
  } else if (kind == "TokenReview") {
    spec["token"] = dice.Pick({"", "x", "a.b.c"});
    if (dice.Chance(30)) spec["audiences"].append("aud");
  } else if (kind != "SelfSubjectReview") {
    if (dice.Chance(80)) {
      Json::Value& a = spec["resourceAttributes"];
      a["verb"] = dice.Pick({"get", "list", "delete", "*", "", "escalate"});
      a["resource"] = dice.Pick({"configmaps", "secrets", "*", "", "roles"});
      if (dice.Chance(60)) a["namespace"] = ns;
      if (dice.Chance(30)) a["name"] = "a";
      if (dice.Chance(20)) a["subresource"] = "status";
      if (dice.Chance(40)) a["group"] = dice.Pick({"", "rbac.authorization.k8s.io", "*"});
      if (dice.Chance(8)) a["labelSelector"]["rawSelector"] = dice.Pick({"l=1", "l in", ""});
      if (dice.Chance(8)) a["fieldSelector"]["requirements"][0]["key"] = "metadata.name";
    }
    if (dice.Chance(25)) {
      spec["nonResourceAttributes"]["path"] = dice.Pick({"/healthz", "/api", "/metrics", ""});
      spec["nonResourceAttributes"]["verb"] = dice.Pick({"get", "post", ""});
    }
    if (kind != "SelfSubjectAccessReview") {
      if (dice.Chance(85))
        spec["user"] =
            dice.Pick({"@{ns}-u", "system:admin", "system:serviceaccount:default:default", ""});
      if (dice.Chance(30))
        spec["groups"].append(dice.Pick({"system:masters", "system:authenticated", "@{ns}-g"}));
      if (dice.Chance(10)) spec["extra"]["k"].append("v");
    }
  }
  if (dice.Chance(6)) body["metadata"]["name"] = "x";
  if (dice.Chance(5)) body["kind"] = "SubjectAccessReview";
  if (dice.Chance(5)) body.removeMember("spec");
  std::string plural = kind + "s";
  for (char& c : plural) c = static_cast<char>(std::tolower(c));
  std::string target = StrCat("/apis/", body["apiVersion"].asString());
  if (kind == "LocalSubjectAccessReview") StrAppend(&target, "/namespaces/@{ns}");
  StrAppend(&target, "/", plural);
  return {target, body};
}

Json::Value MakeTokenRequest(Dice& dice) {
  static constexpr int kLives[] = {600, 3600, 599, 0, -1, 10};
  Json::Value body;
  body["apiVersion"] = "authentication.k8s.io/v1";
  body["kind"] = "TokenRequest";
  Json::Value& spec = body["spec"] = Json::Value(Json::objectValue);
  if (dice.Chance(60)) spec["expirationSeconds"] = kLives[dice.Below(6)];
  if (dice.Chance(40)) spec["audiences"].append(dice.Pick({"aud", "", "https://x"}));
  if (dice.Chance(25)) {
    Json::Value& bound = spec["boundObjectRef"];
    bound["kind"] = dice.Pick({"Secret", "Pod", "Node", "ConfigMap", ""});
    bound["apiVersion"] = "v1";
    bound["name"] = dice.Pick({"a", "b", ""});
    if (dice.Chance(40)) bound["uid"] = dice.Pick({"@{uid:a}", "x"});
  }
  if (dice.Chance(8)) body["metadata"]["name"] = dice.Pick({"a", "x"});
  return body;
}

}  // namespace mandate::conformance::explore
