#include "testing/rbac_fidelity/questions.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"
#include "manager/rbac/quote.h"

namespace mandate::fidelity {
namespace {

using rbac::Attributes;
using rbac::Rule;
using rbac::UserInfo;

const std::vector<Rule>& NoRules() {
  static const auto& none = *new std::vector<Rule>();
  return none;
}

// Some rules of the server's own role, as starting points of questions.
const std::vector<Rule>& AggregatedRules() {
  static const auto& rules = *new std::vector<Rule>{
      {.verbs = {"get", "list", "watch"}, .api_groups = {""}, .resources = {"pods", "pods/log"}}};
  return rules;
}

template <class Roles>
const std::vector<Rule>* Find(const Roles& roles, const std::string& ns, const std::string& name) {
  for (const auto& role : roles) {
    if constexpr (requires { role.ns; }) {
      if (role.ns != ns) continue;
    }
    if (role.name == name) return &role.rules;
  }
  return nullptr;
}

}  // namespace

std::string Question::ToString() const {
  std::string what =
      request.is_resource_request
          ? StrCat(request.verb, " ", rbac::Quote(request.resource), " sub ",
                   rbac::Quote(request.subresource), " group ", rbac::Quote(request.api_group),
                   " namespace ", rbac::Quote(request.ns), " name ", rbac::Quote(request.name))
          : StrCat(request.verb, " path ", rbac::Quote(request.path));
  return StrCat("user ", rbac::Quote(user.name), " groups [", absl::StrJoin(user.groups, " "),
                "]: ", what);
}

Questions::Binding Questions::PickBinding() {
  const rbac::Policy& policy = world_.policy;
  if (dice_.Chance(50)) {
    const rbac::RoleBinding& b = dice_.Pick(policy.role_bindings);
    return {b.role_ref, dice_.Pick(b.subjects), b.ns};
  }
  const rbac::ClusterRoleBinding& b = dice_.Pick(policy.cluster_role_bindings);
  return {b.role_ref, dice_.Pick(b.subjects), ""};
}

const std::vector<Rule>& Questions::RulesOf(const Binding& binding) const {
  if (binding.role_ref.name == kAggregatedRole) return AggregatedRules();
  if (binding.role_ref.name == world_.aggregate) return aggregate_rules_;
  const std::vector<Rule>* rules =
      binding.role_ref.kind == "Role"
          ? Find(world_.policy.roles, binding.ns, binding.role_ref.name)
          : Find(world_.policy.cluster_roles, "", binding.role_ref.name);
  return rules == nullptr ? NoRules() : *rules;
}

UserInfo Questions::AnyUser() {
  const Vocabulary& words = world_.words;
  if (dice_.Chance(40)) {
    return rbac::ServiceAccountInfo(dice_.Pick(words.namespaces),
                                    dice_.Pick(words.service_accounts));
  }
  UserInfo user = rbac::AuthenticatedInfo(dice_.Pick(words.users));
  if (dice_.Chance(40)) user.groups.push_back(dice_.Pick(words.groups));
  return user;
}

UserInfo Questions::UserOf(const Binding& binding) {
  const rbac::Subject& subject = binding.subject;
  if (subject.kind == "User") return rbac::AuthenticatedInfo(subject.name);
  if (subject.kind == "ServiceAccount") {
    return rbac::ServiceAccountInfo(subject.ns.empty() ? binding.ns : subject.ns, subject.name);
  }
  return rbac::AuthenticatedInfo(dice_.Pick(world_.words.users), {subject.name});
}

Attributes Questions::AnyRequest() {
  const Vocabulary& words = world_.words;
  Attributes request;
  request.verb = dice_.Pick(words.verbs);
  if (dice_.Chance(15)) {
    request.is_resource_request = false;
    request.path = dice_.Pick(words.paths);
    return request;
  }
  request.api_group = dice_.Pick(words.api_groups);
  if (dice_.Chance(50)) request.api_version = "v1";
  request.resource = dice_.Pick(words.resources);
  if (dice_.Chance(25)) request.subresource = dice_.Pick(words.subresources);
  if (dice_.Chance(65)) request.ns = dice_.Pick(words.namespaces);
  if (dice_.Chance(50)) request.name = dice_.Pick(words.names);
  return request;
}

// A request that the rule alone allows in most cases.
Attributes Questions::Matching(const Rule& rule, const std::string& ns) {
  const Vocabulary& words = world_.words;
  Attributes request = AnyRequest();
  if (const std::string& verb = dice_.Pick(rule.verbs); verb != "*") request.verb = verb;
  request.is_resource_request = rule.non_resource_urls.empty();
  if (!request.is_resource_request) {
    request = {.verb = request.verb,
               .is_resource_request = false,
               .api_group = "",
               .api_version = "",
               .resource = "",
               .subresource = "",
               .ns = "",
               .name = "",
               .path = dice_.Pick(words.paths)};
    std::string url = dice_.Pick(rule.non_resource_urls);
    if (url == "*" || dice_.Chance(20)) return request;
    if (url.ends_with('*')) {
      while (url.ends_with('*')) url.pop_back();
      url += dice_.Chance(50) ? "more" : "";
    }
    request.path = url;
    return request;
  }
  request.path.clear();
  if (const std::string& group = dice_.Pick(rule.api_groups); group != "*") {
    request.api_group = group;
  }
  const std::string& resource = dice_.Pick(rule.resources);
  const size_t slash = resource.find('/');
  if (slash != std::string::npos) {
    request.subresource = resource.substr(slash + 1);
    if (request.subresource == "*") request.subresource = dice_.Pick(words.subresources);
    request.resource = resource.substr(0, slash);
  } else if (resource != "*") {
    request.subresource = "";
    request.resource = resource;
  }
  if (request.resource == "*" || request.resource.empty()) {
    request.resource = dice_.Pick(words.resources);
  }
  if (!rule.resource_names.empty()) request.name = dice_.Pick(rule.resource_names);
  if (!ns.empty()) request.ns = ns;
  if (request.resource == "namespaces" && !request.ns.empty() && dice_.Chance(50)) {
    request.name = request.ns;  // as the server asks for GET /api/v1/namespaces/x
  }
  return request;
}

void Questions::Change(Question& question) {
  Attributes& request = question.request;
  const Attributes other = AnyRequest();
  if (!request.is_resource_request) {
    switch (dice_.Below(3)) {
      case 0:
        request.verb = other.verb;
        break;
      case 1:
        request.path += dice_.Chance(50) ? "/" : "x";
        break;
      default:
        question.user = AnyUser();
    }
    return;
  }
  switch (dice_.Below(9)) {
    case 0:
      request.verb = dice_.Chance(30) ? "Get" : other.verb;
      break;
    case 1:
      request.api_group = other.api_group;
      break;
    case 2:
      request.resource = dice_.Chance(80) ? dice_.Pick(world_.words.resources) : "Pods";
      break;
    case 3:
      request.subresource =
          request.subresource.empty() ? dice_.Pick(world_.words.subresources) : "";
      break;
    case 4:
      request.name = request.name.empty() ? dice_.Pick(world_.words.names) : "";
      break;
    case 5:
      request.name = dice_.Chance(80) ? dice_.Pick(world_.words.names) : "WEB";
      break;
    case 6:
      request.ns = "";
      break;
    case 7:
      request.ns = dice_.Pick(world_.words.namespaces);
      break;
    default:
      question.user = AnyUser();
  }
}

Question Questions::Next() {
  Question question{.user = AnyUser(), .request = AnyRequest(), .field_selector = ""};
  if (dice_.Chance(85)) {
    const Binding binding = PickBinding();
    question.user = UserOf(binding);
    const std::vector<Rule>& rules = RulesOf(binding);
    if (!rules.empty()) question.request = Matching(dice_.Pick(rules), binding.ns);
    if (rules.empty() && !binding.ns.empty()) question.request.ns = binding.ns;
    if (dice_.Chance(45)) Change(question);
  }
  if (!question.request.is_resource_request) question.request.ns.clear();
  if (dice_.Chance(2)) question.user.groups.emplace_back(rbac::kMastersGroup);
  if (dice_.Chance(3)) question.user = rbac::AnonymousInfo();
  if (question.request.is_resource_request && question.request.name.empty() && dice_.Chance(10)) {
    question.field_selector = "metadata.name=web";
  }
  return question;
}

}  // namespace mandate::fidelity
