#include "absl/strings/str_join.h"
#include "manager/core/strings.h"
#include "manager/rbac/covers.h"
#include "manager/rbac/quote.h"
#include "testing/rbac_fidelity/questions.h"

namespace mandate::fidelity {

using rbac::Rule;

std::string GrantAttempt::ToString() const {
  std::string what = StrCat("bind ", role_ref.kind, " ", rbac::Quote(role_ref.name));
  if (!is_binding()) {
    what = StrCat("write a role of ",
                  absl::StrJoin(rules, " ", [](std::string* out, const Rule& rule) {
                    StrAppend(out, rbac::CompactString(rule));
                  }));
  }
  return StrCat("user ", rbac::Quote(user.name), " groups [", absl::StrJoin(user.groups, " "),
                "] in namespace ", rbac::Quote(ns), ": ", what);
}

// Makes the granted rule differ in one respect from the rule that the user has.
void Questions::Change(Rule& rule) {
  const Vocabulary& words = world_.words;
  if (!rule.non_resource_urls.empty()) {
    std::string& url = rule.non_resource_urls.front();
    url = dice_.Chance(50) ? url + "/*" : url + "x";
    return;
  }
  switch (dice_.Below(7)) {
    case 0:
      rule.verbs = {dice_.Chance(30) ? "*" : dice_.Pick(words.verbs)};
      break;
    case 1:
      rule.api_groups = {dice_.Chance(30) ? "*" : dice_.Pick(words.api_groups)};
      break;
    case 2:
      rule.resources = {dice_.Pick(words.resources)};
      break;
    case 3:
      rule.resources.push_back(StrCat(dice_.Chance(30) ? "*" : dice_.Pick(words.resources), "/",
                                      dice_.Pick(words.subresources)));
      break;
    case 4:
      rule.resource_names.clear();
      break;
    case 5:
      rule.resource_names = {dice_.Pick(words.names)};
      break;
    default:
      rule.resource_names.push_back(dice_.Pick(words.names));
  }
}

GrantAttempt Questions::NextGrant() {
  const Binding binding = PickBinding();
  GrantAttempt attempt{.user = UserOf(binding), .ns = binding.ns, .rules = {}, .role_ref = {}};
  attempt.user.groups.push_back(world_.words.granters);
  if (dice_.Chance(10)) attempt.user.name = dice_.Pick(world_.words.users);
  if (dice_.Chance(20)) {
    attempt.ns = dice_.Chance(50) ? "" : dice_.Pick(world_.words.namespaces);
  }
  if (dice_.Chance(15)) {
    attempt.user.name = world_.words.users[1 + dice_.Below(3)];
    attempt.role_ref = {.kind = "ClusterRole", .name = dice_.Pick(world_.words.bindable)};
    return attempt;
  }
  if (dice_.Chance(40)) {
    attempt.role_ref = dice_.Chance(60) ? binding.role_ref : PickBinding().role_ref;
    if (attempt.ns.empty()) attempt.role_ref.kind = "ClusterRole";
    return attempt;
  }
  for (const Rule& rule : RulesOf(binding)) {
    if (!attempt.ns.empty() && !rule.non_resource_urls.empty()) continue;
    attempt.rules.push_back(rule);
    if (dice_.Chance(30)) Change(attempt.rules.back());
    if (attempt.rules.size() == 2) break;
  }
  return attempt;
}

}  // namespace mandate::fidelity
