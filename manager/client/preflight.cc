#include "manager/client/preflight.h"

#include <map>
#include <span>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_text.h"
#include "manager/object/kinds/authentication_v1.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/rbac/covers.h"
#include "manager/rbac/normalize.h"

namespace mandate {
namespace {

using authenticationv1::SelfSubjectReview;
using authorizationv1::SelfSubjectAccessReview;

constexpr size_t kMaxListed = 10;

// Creates the review and replaces it by the server's answer.
template <class Review>
absl::Status Ask(const CallContext& context, RestClient& client, Review& review) {
  constexpr KindInfo kKind = KindOf<Review>::value;
  RestRequest request;
  request.method = "POST";
  request.target = ResourceTarget(kKind, {});
  request.idempotent = true;  // it changes nothing
  ASSIGN_OR_RETURN(request.body, ToJson(review, &kKind));
  ASSIGN_OR_RETURN(const HttpResponse response, client.Do(context, std::move(request)));
  return FromJson(response.body, review);
}

// `rule` has one verb and one resource or URL.
absl::StatusOr<bool> Granted(const CallContext& context, RestClient& client, std::string_view ns,
                             const rbac::Rule& rule) {
  SelfSubjectAccessReview review;
  if (!rule.non_resource_urls.empty()) {
    auto* asked = review.mutable_spec()->mutable_nonresourceattributes();
    asked->set_verb(rule.verbs[0]);
    asked->set_path(rule.non_resource_urls[0]);
  } else {
    auto* asked = review.mutable_spec()->mutable_resourceattributes();
    const std::string& resource = rule.resources[0];
    const size_t slash = resource.find('/');
    asked->set_verb(rule.verbs[0]);
    asked->set_group(rule.api_groups[0]);
    asked->set_resource(resource.substr(0, slash));
    if (slash != std::string::npos) asked->set_subresource(resource.substr(slash + 1));
    if (!rule.resource_names.empty()) asked->set_name(rule.resource_names[0]);
    if (!ns.empty()) asked->set_namespace_(std::string(ns));
  }
  RETURN_IF_ERROR(Ask(context, client, review));
  return review.status().allowed();
}

std::vector<std::string> Strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

// What the mandate needs bound, by namespace; "" is cluster-wide.
std::map<std::string, std::vector<rbac::Rule>> NeededRules(const rbac::Mandate& mandate) {
  std::map<std::string, std::vector<rbac::Rule>> rules;
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

void AppendList(std::string_view key, const std::vector<std::string>& values, std::string& yaml) {
  if (values.empty()) return;
  StrAppend(&yaml, yaml.ends_with("- ") ? "" : "  ", key, ": [");
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) yaml += ", ";
    AppendJsonString(values[i], yaml);
  }
  yaml += "]\n";
}

// "create rolebindings.rbac.authorization.k8s.io in namespace foo".
std::string Describe(const PreflightReport::Missing& missing) {
  const rbac::Rule& rule = missing.rule;
  if (!rule.non_resource_urls.empty()) {
    return StrCat(rule.verbs[0], " ", rule.non_resource_urls[0]);
  }
  std::string text = StrCat(rule.verbs[0], " ", rule.resources[0]);
  if (!rule.api_groups[0].empty()) StrAppend(&text, ".", rule.api_groups[0]);
  if (!rule.resource_names.empty()) StrAppend(&text, " \"", rule.resource_names[0], "\"");
  if (!missing.ns.empty()) StrAppend(&text, " in namespace ", missing.ns);
  return text;
}

}  // namespace

std::string GrantManifest(const std::vector<rbac::Rule>& rules, std::string_view role_ns,
                          std::string_view service_account, std::string_view account_ns) {
  const std::string_view kind = role_ns.empty() ? "ClusterRole" : "Role";
  std::string metadata = StrCat("metadata:\n  name: ", service_account, "\n");
  if (!role_ns.empty()) StrAppend(&metadata, "  namespace: ", role_ns, "\n");
  std::string yaml =
      StrCat("apiVersion: rbac.authorization.k8s.io/v1\nkind: ", kind, "\n", metadata, "rules:\n");
  for (const rbac::Rule& rule : rbac::NormalizeRules(rules)) {
    yaml += "- ";
    AppendList("apiGroups", rule.api_groups, yaml);
    AppendList("nonResourceURLs", rule.non_resource_urls, yaml);
    AppendList("resourceNames", rule.resource_names, yaml);
    AppendList("resources", rule.resources, yaml);
    AppendList("verbs", rule.verbs, yaml);
  }
  StrAppend(&yaml, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ", kind, "Binding\n",
            metadata, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ", kind,
            "\n  name: ", service_account,
            "\nsubjects:\n- kind: ServiceAccount\n  name: ", service_account,
            "\n  namespace: ", account_ns, "\n");
  return yaml;
}

absl::StatusOr<PreflightReport> Preflight(const CallContext& context, RestClient& client,
                                          const PreflightOptions& options) {
  PreflightReport report;
  SelfSubjectReview self;
  RETURN_IF_ERROR(Ask(context, client, self));
  report.username = self.status().userinfo().username();
  if (!options.username.empty() && report.username != options.username) {
    return absl::FailedPreconditionError(
        StrCat("the server takes component ", client.component(), " for \"", report.username,
               "\" instead of \"", options.username, "\": something between changes its requests"));
  }
  for (const auto& [ns, rules] : NeededRules(*options.mandate)) {
    bool complete = true;
    for (const rbac::Rule& rule : rules) {
      for (rbac::Rule& one : rbac::Breakdown(rule)) {
        ASSIGN_OR_RETURN(const bool granted, Granted(context, client, ns, one));
        if (granted) continue;
        complete = false;
        report.missing.push_back({.ns = ns, .rule = std::move(one)});
      }
    }
    if (complete) continue;
    if (!report.manifest.empty()) report.manifest += "---\n";
    report.manifest += GrantManifest(rules, ns, options.service_account, options.ns);
  }
  return report;
}

absl::Status PreflightReport::ToStatus(std::string_view component) const {
  if (missing.empty()) return absl::OkStatus();
  std::string list;
  for (size_t i = 0; i < missing.size() && i < kMaxListed; ++i) {
    StrAppend(&list, list.empty() ? "" : ", ", Describe(missing[i]));
  }
  if (missing.size() > kMaxListed) {
    StrAppend(&list, " and ", missing.size() - kMaxListed, " more");
  }
  return absl::FailedPreconditionError(StrCat("component ", component, " (", username, ") may not ",
                                              list, ". Apply (the chart holds it):\n", manifest));
}

}  // namespace mandate
