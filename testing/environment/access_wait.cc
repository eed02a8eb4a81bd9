#include "testing/environment/access_wait.h"

#include <algorithm>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/rbac/mandate_in_namespace.h"
#include "manager/rbac/mandate_without.h"

namespace mandate {
namespace {

constexpr size_t kAtOnce = 16;

// The request that a rule with one verb, one group and one resource is for.
rbac::Attributes RequestOf(const rbac::MandateRule& r) {
  const std::string_view resource = r.rule.resources[0];
  const size_t slash = std::min(resource.find('/'), resource.size());
  rbac::Attributes request;
  request.verb = r.rule.verbs[0];
  request.api_group = r.rule.api_groups[0];
  request.resource = resource.substr(0, slash);
  request.subresource = resource.substr(std::min(slash + 1, resource.size()));
  request.ns = r.ns;
  if (!r.rule.resource_names.empty()) request.name = r.rule.resource_names[0];
  return request;
}

rbac::Rule RuleFor(const rbac::MandateRule& r, const rbac::Attributes& request) {
  rbac::Rule rule;
  rule.verbs = {request.verb};
  rule.api_groups = {request.api_group};
  rule.resources = {std::string(r.rule.resources[0])};
  if (!request.name.empty()) rule.resource_names = {request.name};
  return rule;
}

}  // namespace

std::vector<ExpectedAccess> ExpectedAccessOf(const rbac::Mandate& declared,
                                             const rbac::Mandate& granted, const std::string& ns) {
  const rbac::MandateWithout each(declared, "");
  const rbac::MandateInNamespace all(each.get(), ns), now(granted, ns);
  std::vector<ExpectedAccess> expected;
  for (const rbac::MandateRule& r : all.mandate().rules) {
    if (r.external || r.rule.resources.empty()) continue;
    const rbac::Attributes request = RequestOf(r);
    const bool external = std::any_of(
        all.mandate().rules.begin(), all.mandate().rules.end(),
        [&](const auto& other) { return other.external && RuleAllows(other.rule, request); });
    if (external) continue;
    expected.push_back({{request.ns, RuleFor(r, request)}, PermitsRequest(now.mandate(), request)});
  }
  return expected;
}

std::vector<ExpectedAccess> ExpectedExternalAccessOf(const rbac::Mandate& declared,
                                                     const ObjectKey& where, bool allowed) {
  const rbac::MandateWithout each(declared, "");
  std::vector<ExpectedAccess> expected;
  for (const rbac::MandateRule& r : each.get().rules) {
    if (!r.external || r.rule.resources.empty()) continue;
    rbac::Attributes request = RequestOf(r);
    if (!where.name.empty()) request.name = where.name;
    const bool covered = std::any_of(
        each.get().rules.begin(), each.get().rules.end(),
        [&](const auto& other) { return !other.external && RuleAllows(other.rule, request); });
    if (!covered) expected.push_back({{where.ns, RuleFor(r, request)}, allowed});
  }
  return expected;
}

absl::Status AwaitAccess(Administrator& administrator, absl::Duration patience,
                         const std::string& user, const std::vector<ExpectedAccess>& expected) {
  authenticationv1::UserInfo info;
  info.set_username(user);
  std::vector<AccessQuestion> questions;
  for (const ExpectedAccess& e : expected) questions.push_back(e.question);
  const CallContext context = administrator.Within(patience);
  absl::Status late;  // of the last answers
  while (true) {
    const auto reviewed =
        ReviewUserAccess(context, administrator.client(), info, questions, kAtOnce);
    // The reviews have the same deadline, and fail first when it passes.
    if (absl::IsDeadlineExceeded(reviewed.status()) && !late.ok()) return late;
    RETURN_IF_ERROR(reviewed.status());
    const auto& answers = *reviewed;
    size_t i = 0;
    while (i < answers.size() && answers[i].allowed() == expected[i].allowed) ++i;
    if (i == answers.size()) return absl::OkStatus();
    const rbac::Rule& rule = questions[i].rule;
    const std::string group = rule.api_groups[0].empty() ? "" : StrCat(".", rule.api_groups[0]);
    late = absl::DeadlineExceededError(
        StrCat("the API server still ", answers[i].allowed() ? "lets " : "does not let ", user, " ",
               rule.verbs[0], " ", rule.resources[0], group, " in namespace \"", questions[i].ns,
               "\" after ", absl::FormatDuration(patience),
               answers[i].allowed() ? "; another role grants it" : ""));
  }
}

}  // namespace mandate
