#include "rbacgen/emit/chart/admission_policy.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

constexpr char kVersion[] = "admissionregistration.k8s.io/v1";

}  // namespace

Yaml::Map Validation(Yaml expression, const std::string& message) {
  return {{"expression", std::move(expression)}, {"message", message}, {"reason", "Forbidden"}};
}

std::string AccountPattern(const std::vector<std::string>& accounts) {
  return StrCat("(.+-)?(", AsStd(absl::StrReplaceAll(absl::StrJoin(accounts, "|"), {{".", "[.]"}})),
                ")(-.+)?");
}

std::string IsAccountCel(const std::string& account, const std::vector<std::string>& accounts) {
  const auto matches = [](const std::vector<std::string>& names) {
    return StrCat("request.userInfo.username.matches(\"^system:serviceaccount:[^:]+:",
                  AccountPattern(names), "$\")");
  };
  std::vector<std::string> longer;
  for (const std::string& other : accounts) {
    if (other.starts_with(account + "-")) longer.push_back(other);
  }
  const std::string is = matches({account});
  return longer.empty() ? is : StrCat(is, " && !", matches(longer));
}

void AddAdmissionPolicy(ObjectMaker& maker, AdmissionPolicy policy,
                        const Yaml::Condition& condition) {
  const std::string name = StrCat(maker.account(), "-", policy.id);
  if (policy.condition.empty()) {
    policy.condition = IsAccountCel(maker.account(), maker.names().accounts);
  }
  Yaml::Map spec = {
      {"failurePolicy", "Fail"},
      {"matchConditions",
       Yaml::List{Yaml::Map{{"name", policy.matches}, {"expression", policy.condition}}}},
      {"matchConstraints",
       Yaml::Map{{"resourceRules", Yaml::List{Yaml::Map{{"apiGroups", Yaml(policy.groups)},
                                                        {"apiVersions", Yaml::List{"*"}},
                                                        {"operations", Yaml(policy.operations)},
                                                        {"resources", Yaml(policy.resources)}}}}}},
      {"validations", std::move(policy.validations)}};
  if (!policy.variables.empty()) spec["variables"] = std::move(policy.variables);
  Yaml::Map object = maker.Object(kVersion, "ValidatingAdmissionPolicy", name, Yaml());
  object["spec"] = std::move(spec);
  maker.Add(std::move(object), condition);

  Yaml::Map binding = maker.Object(kVersion, "ValidatingAdmissionPolicyBinding", name, Yaml());
  binding["spec"] =
      Yaml::Map{{"policyName", name}, {"validationActions", Yaml::List{"Deny", "Audit"}}};
  maker.Add(std::move(binding), condition);
}

}  // namespace mandate::rbacgen
