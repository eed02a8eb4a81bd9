#include "rbacgen/token_fence.h"

#include <string>
#include <utility>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

constexpr char kVersion[] = "admissionregistration.k8s.io/v1";

Yaml::Map Validation(Yaml expression, const std::string& message) {
  return {{"expression", std::move(expression)}, {"message", message}, {"reason", "Forbidden"}};
}

}  // namespace

void AddTokenFence(ObjectMaker& maker) {
  const ChartSwitches& switches = maker.switches();
  const Yaml::Condition condition = switches.Fences() && switches.TokenMode();
  const std::string name = StrCat(maker.account(), "-tokens");
  // The server has filled in what was left open.
  Yaml::List validations = {
      Validation("object.spec.expirationSeconds <= 3600",
                 "base may only request tokens that are valid for an hour at most"),
      Validation(switches.WithApiAudiences("object.spec.audiences.all(a, a in ", ")"),
                 "base may only request tokens for the API server's own audiences, which the "
                 "chart's value apiAudiences lists"),
      Yaml::If(switches.KillSwitch(),
               Validation("object.spec.?boundObjectRef.?kind.orValue(\"\") == \"Secret\" && "
                          "object.spec.?boundObjectRef.?name.orValue(\"\") == request.name",
                          "base may only request tokens that are bound to the Secret of the "
                          "ServiceAccount's name")),
      // The server shows a reference that was not given as null.
      Yaml::If(!switches.KillSwitch(),
               Validation("object.spec.?boundObjectRef.?kind.orValue(\"\") == \"\"",
                          "base may only request tokens that are bound to the ServiceAccount "
                          "alone")),
  };
  Yaml::Map policy = maker.Object(kVersion, "ValidatingAdmissionPolicy", name, Yaml());
  policy["spec"] = Yaml::Map{
      {"failurePolicy", "Fail"},
      {"matchConditions",
       Yaml::List{Yaml::Map{
           {"name", "is-base"},
           {"expression",
            switches.WithNamespace("request.userInfo.username == \"system:serviceaccount:",
                                   StrCat(":", maker.account(), "\""))}}}},
      {"matchConstraints",
       Yaml::Map{{"resourceRules",
                  Yaml::List{Yaml::Map{{"apiGroups", Yaml::List{""}},
                                       {"apiVersions", Yaml::List{"*"}},
                                       {"operations", Yaml::List{"CREATE"}},
                                       {"resources", Yaml::List{"serviceaccounts/token"}}}}}}},
      {"validations", std::move(validations)}};
  maker.Add(std::move(policy), condition);

  Yaml::Map binding = maker.Object(kVersion, "ValidatingAdmissionPolicyBinding", name, Yaml());
  binding["spec"] =
      Yaml::Map{{"policyName", name}, {"validationActions", Yaml::List{"Deny", "Audit"}}};
  maker.Add(std::move(binding), condition);
}

}  // namespace mandate::rbacgen
