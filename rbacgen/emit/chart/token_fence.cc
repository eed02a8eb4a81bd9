#include "rbacgen/emit/chart/token_fence.h"

#include <utility>

#include "rbacgen/emit/chart/admission_policy.h"

namespace mandate::rbacgen {

void AddTokenFence(ObjectMaker& maker) {
  const ChartSwitches& switches = maker.switches();
  // The server has set the defaults before it evaluates the policy.
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
      // If the request has no reference, the server shows it as null.
      Yaml::If(!switches.KillSwitch(),
               Validation("object.spec.?boundObjectRef.?kind.orValue(\"\") == \"\"",
                          "base may only request tokens that are bound to the ServiceAccount "
                          "alone")),
  };
  AddAdmissionPolicy(maker,
                     {.id = "tokens",
                      .matches = "is-base",
                      .condition = {},
                      .groups = {""},
                      .operations = {"CREATE"},
                      .resources = {"serviceaccounts/token"},
                      .variables = {},
                      .validations = std::move(validations)},
                     switches.Fences() && switches.TokenMode());
}

}  // namespace mandate::rbacgen
