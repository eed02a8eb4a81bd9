#include "manager/preflight.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "manager/client/self_review.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/preflight_manifest.h"
#include "manager/rbac/cluster_scoped.h"
#include "manager/rbac/covers.h"
#include "manager/rbac/impersonation.h"

namespace mandate {
namespace {

constexpr size_t kMaxListed = 10;

// The number of concurrent reviews. So some hundred reviews take only the time of a few answers.
constexpr size_t kAtOnce = 16;

// The first minor release of Kubernetes 1 that has constrained impersonation on by default.
constexpr int kConstrainedImpersonation = 36;

std::vector<std::string> Strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

// The rules that must be granted for the mandate.
rbac::RulesByNamespace NeededRules(const rbac::Mandate& mandate) {
  rbac::RulesByNamespace rules;
  for (const rbac::MandateRule& r : mandate.rules) {
    if (r.external) continue;
    rules[std::string(r.ns)].push_back({.verbs = Strings(r.rule.verbs),
                                        .api_groups = Strings(r.rule.api_groups),
                                        .resources = Strings(r.rule.resources),
                                        .resource_names = Strings(r.rule.resource_names),
                                        .non_resource_urls = Strings(r.rule.non_resource_urls)});
  }
  return rules;
}

// "create rolebindings.rbac.authorization.k8s.io in namespace foo", "patch
// deployments.apps/status".
std::string Describe(const PreflightReport::Missing& missing) {
  const rbac::Rule& rule = missing.rule;
  if (!rule.non_resource_urls.empty()) {
    return StrCat(rule.verbs[0], " ", rule.non_resource_urls[0]);
  }
  const std::string& resource = rule.resources[0];
  const size_t slash = std::min(resource.find('/'), resource.size());
  std::string text = StrCat(rule.verbs[0], " ", resource.substr(0, slash));
  if (!rule.api_groups[0].empty()) StrAppend(&text, ".", rule.api_groups[0]);
  text += resource.substr(slash);
  if (!rule.resource_names.empty()) StrAppend(&text, " \"", rule.resource_names[0], "\"");
  if (!missing.ns.empty()) StrAppend(&text, " in namespace ", missing.ns);
  return text;
}

// The names of the roles and bindings that grant the rules, and their user.
struct Grantee {
  std::string role;
  std::string binding;
  std::string user;
};

// Adds the denied questions to the report.
absl::Status Ask(const CallContext& context, RestClient& client,
                 std::vector<AccessQuestion> questions, PreflightReport& report) {
  ASSIGN_OR_RETURN(const std::vector<AccessAnswer> answers,
                   ReviewOwnAccess(context, client, questions, kAtOnce));
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].allowed()) continue;
    report.missing.push_back({.ns = questions[i].ns, .rule = std::move(questions[i].rule)});
    if (report.reason.empty()) report.reason = answers[i].reason();
    if (report.reason.empty()) report.reason = answers[i].evaluationerror();
  }
  return absl::OkStatus();
}

// Asks for what is missing in the whole cluster, and what Roles can grant, in each of these
// namespaces instead.
absl::Status AskInNamespaces(const CallContext& context, RestClient& client,
                             const std::vector<std::string>& namespaces, PreflightReport& report) {
  if (namespaces.empty()) return absl::OkStatus();
  std::vector<AccessQuestion> questions;
  std::vector<PreflightReport::Missing> missing;
  for (PreflightReport::Missing& one : report.missing) {
    if (!one.ns.empty() || rbac::NamespacedPart(one.rule).resources.empty()) {
      missing.push_back(std::move(one));
      continue;
    }
    for (const std::string& ns : namespaces) questions.push_back({ns, one.rule});
  }
  report.missing = std::move(missing);
  if (questions.empty()) return absl::OkStatus();
  if (report.missing.empty()) report.reason.clear();
  return Ask(context, client, std::move(questions), report);
}

// The rules of the role in a namespace; with `namespaces`, the role in each of these has what Roles
// can grant of the rules for the whole cluster.
std::vector<rbac::Rule> RulesIn(const std::string& ns, const rbac::RulesByNamespace& needed,
                                const std::vector<std::string>& namespaces) {
  std::vector<rbac::Rule> rules;
  if (const auto own = needed.find(ns); own != needed.end()) rules = own->second;
  const auto everywhere = needed.find("");
  if (namespaces.empty() || everywhere == needed.end()) return rules;
  if (ns.empty()) rules.clear();
  const bool is_watched = std::ranges::find(namespaces, ns) != namespaces.end();
  for (const rbac::Rule& rule : everywhere->second) {
    if (!ns.empty() && !is_watched) continue;
    rbac::Rule part = ns.empty() ? rbac::ClusterPart(rule) : rbac::NamespacedPart(rule);
    if (part.resources.empty() && part.non_resource_urls.empty()) continue;
    rules.push_back(std::move(part));
  }
  return rules;
}

// Asks for all of `needed` under the client's identity; `namespaces`:
// PreflightOptions::watch_namespaces. The report has the whole role of each namespace in which a
// rule is missing.
absl::Status Check(const CallContext& context, RestClient& client,
                   const rbac::RulesByNamespace& needed, const Grantee& grantee,
                   const std::vector<std::string>& namespaces, PreflightReport& report) {
  std::vector<AccessQuestion> questions;
  for (const auto& [ns, rules] : needed) {
    for (const rbac::Rule& rule : rules) {
      for (rbac::Rule& one : rbac::Breakdown(rule)) questions.push_back({ns, std::move(one)});
    }
  }
  PreflightReport found;
  RETURN_IF_ERROR(Ask(context, client, std::move(questions), found));
  RETURN_IF_ERROR(AskInNamespaces(context, client, namespaces, found));
  if (report.reason.empty()) report.reason = found.reason;
  std::set<std::string> incomplete;  // namespaces
  for (PreflightReport::Missing& missing : found.missing) {
    incomplete.insert(missing.ns);
    report.missing.push_back(std::move(missing));
  }
  for (const std::string& ns : incomplete) {
    if (!report.manifest.empty()) report.manifest += "---\n";
    report.manifest += GrantManifest({.ns = ns,
                                      .role = grantee.role,
                                      .binding = grantee.binding,
                                      .user = grantee.user,
                                      .rules = RulesIn(ns, needed, namespaces)});
  }
  return absl::OkStatus();
}

// Whether the server is of a release that has constrained impersonation.
absl::StatusOr<bool> KnowsConstraints(const CallContext& context, RestClient& base) {
  RestRequest request;
  request.method = "GET";
  request.target = "/version";
  ASSIGN_OR_RETURN(const HttpResponse response, base.Do(context, std::move(request)));
  ASSIGN_OR_RETURN(const Json::Value version, ParseJson(response.body));
  if (!version.isObject() || !version["major"].isString() || !version["minor"].isString()) {
    return absl::InternalError("the server's /version has no major and minor");
  }
  const std::string minor_text = version["minor"].asString();  // "36", or "36+" of some vendors
  int minor = 0;
  const bool numeric =
      absl::SimpleAtoi(minor_text.substr(0, minor_text.find_first_not_of("0123456789")), &minor);
  return version["major"].asString() != "1" || (numeric && minor >= kConstrainedImpersonation);
}

struct BaseFound {
  PreflightReport report;
  std::string username;
};

// Named as the chart names them.
Grantee ToBase(const PreflightOptions& options, std::string_view suffix, const std::string& base) {
  const std::string name = StrCat(options.service_account, suffix);
  return {.role = name, .binding = name, .user = base};
}

// The rights that base lacks to act as the component.
absl::StatusOr<BaseFound> CheckBase(const CallContext& context, const RestClient& client,
                                    const PreflightOptions& options) {
  RestClient& base = *options.base;
  BaseFound found;
  ASSIGN_OR_RETURN(found.username, WhoAmI(context, base));
  found.report.subject =
      StrCat("base (", found.username, ") may not act as component ", client.component(), ": it");
  PreflightReport classic = found.report;
  RETURN_IF_ERROR(Check(context, base,
                        {{options.ns, {rbac::ClassicImpersonation(options.service_account)}}},
                        ToBase(options, "-impersonate", found.username), {}, classic));
  // It may do so without constraints: nothing else is needed.
  if (classic.missing.empty()) return found;
  ASSIGN_OR_RETURN(const bool constrained, KnowsConstraints(context, base));
  if (!constrained) {
    found.report = std::move(classic);
    return found;
  }
  RETURN_IF_ERROR(
      Check(context, base, {{options.ns, {rbac::ImpersonateUserRule(options.service_account)}}},
            ToBase(options, "-impersonate-constrained", found.username), {}, found.report));
  RETURN_IF_ERROR(Check(context, base, rbac::ImpersonateOnRules(*options.mandate),
                        ToBase(options, "-impersonate-on", found.username), {}, found.report));
  return found;
}

// Base has all rights for constrained impersonation, and the server still refuses, because the
// feature is off.
absl::Status NoConstraints(const PreflightOptions& options, const std::string& base_user,
                           const absl::Status& refusal) {
  const Grantee grantee = ToBase(options, "-impersonate", base_user);
  return absl::FailedPreconditionError(
      StrCat("the server rejects constrained impersonation (", AsStd(refusal.message()),
             "). Enable its feature gate ConstrainedImpersonation, or apply the role for classic "
             "impersonation:\n",
             GrantManifest({.ns = options.ns,
                            .role = grantee.role,
                            .binding = grantee.binding,
                            .user = grantee.user,
                            .rules = {rbac::ClassicImpersonation(options.service_account)}})));
}

}  // namespace

absl::StatusOr<PreflightReport> Preflight(const CallContext& context, RestClient& client,
                                          const PreflightOptions& options) {
  BaseFound base;
  if (options.mode == IdentityMode::kImpersonate && options.base != nullptr) {
    ASSIGN_OR_RETURN(base, CheckBase(context, client, options));
    if (!base.report.missing.empty()) return std::move(base.report);
  }
  absl::StatusOr<std::string> username = WhoAmI(context, client);
  if (absl::IsPermissionDenied(username.status()) && !base.username.empty()) {
    return NoConstraints(options, base.username, username.status());
  }
  RETURN_IF_ERROR(username.status());
  if (!options.username.empty() && *username != options.username) {
    return absl::FailedPreconditionError(
        StrCat("the server authenticates component ", client.component(), " as user \"", *username,
               "\" instead of \"", options.username,
               "\": a proxy between the manager and the server changes requests"));
  }
  PreflightReport report;
  const Grantee grantee{
      .role = options.service_account, .binding = options.service_account, .user = *username};
  report.subject = StrCat("component ", client.component(), " (", *username, ")");
  if (options.mode == IdentityMode::kSingle) {
    report.subject =
        StrCat("component ", client.component(), ", which acts as base (", *username, "),");
  }
  RETURN_IF_ERROR(Check(context, client, NeededRules(*options.mandate), grantee,
                        options.watch_namespaces, report));
  return report;
}

std::function<absl::Status(const CallContext&)> PreflightCheck(RestClient& client,
                                                               PreflightOptions options) {
  return [&client, options = std::move(options)](const CallContext& context) -> absl::Status {
    ASSIGN_OR_RETURN(const PreflightReport report, Preflight(context, client, options));
    return report.ToStatus();
  };
}

absl::Status PreflightReport::ToStatus() const {
  if (missing.empty()) return absl::OkStatus();
  std::string list;
  for (size_t i = 0; i < missing.size() && i < kMaxListed; ++i) {
    StrAppend(&list, list.empty() ? "" : ", ", Describe(missing[i]));
  }
  if (missing.size() > kMaxListed) {
    StrAppend(&list, " and ", missing.size() - kMaxListed, " more");
  }
  if (!reason.empty()) StrAppend(&list, " (the API server says: ", reason, ")");
  return absl::FailedPreconditionError(
      StrCat(subject, " may not ", list, ". Apply (it is part of the chart):\n", manifest));
}

}  // namespace mandate
