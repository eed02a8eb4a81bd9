#include "testing/apiserver/access/webhook.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/json_fields.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

constexpr char kGroup[] = "admissionregistration.k8s.io";

bool HasOrAny(const std::vector<std::string>& list, std::string_view wanted) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& s) { return s == "*" || s == wanted; });
}

std::string UrlOf(const Json::Value& client) {
  if (const std::string url = StringAt(client, "url"); !url.empty()) return url;
  const Json::Value& service = Member(client, "service");
  const Json::Value& port = Member(service, "port");
  return StrCat("https://", StringAt(service, "name"), ".", StringAt(service, "namespace"),
                ".svc:", port.isInt() ? port.asInt() : 443, StringAt(service, "path"));
}

// A selector that is stored has been validated.
LabelSelector Selector(const Json::Value& hook, std::string_view field) {
  return LabelSelector::FromJson(WriteJson(Member(hook, field))).value_or(LabelSelector());
}

Webhook Read(const std::string& configuration, const Json::Value& hook) {
  Webhook webhook;
  webhook.configuration = configuration;
  webhook.name = StringAt(hook, "name");
  const Json::Value& client = Member(hook, "clientConfig");
  webhook.url = UrlOf(client);
  absl::Base64Unescape(StringAt(client, "caBundle"), &webhook.ca_pem);
  for (const Json::Value& rule : Member(hook, "rules")) {
    const std::string scope = StringAt(rule, "scope");
    webhook.rules.push_back({.operations = Texts(rule, "operations"),
                             .groups = Texts(rule, "apiGroups"),
                             .versions = Texts(rule, "apiVersions"),
                             .resources = Texts(rule, "resources"),
                             .scope = scope.empty() ? "*" : scope});
  }
  webhook.namespace_selector = Selector(hook, "namespaceSelector");
  webhook.object_selector = Selector(hook, "objectSelector");
  webhook.ignore_failure = StringAt(hook, "failurePolicy") == "Ignore";
  const std::string effects = StringAt(hook, "sideEffects");
  webhook.dry_run = effects == "None" || effects == "NoneOnDryRun";
  if (const Json::Value& seconds = Member(hook, "timeoutSeconds"); seconds.isInt()) {
    webhook.timeout = absl::Seconds(seconds.asInt());
  }
  if (!Member(hook, "matchConditions").empty()) webhook.unsupported = "matchConditions";
  if (StringAt(hook, "reinvocationPolicy") == "IfNeeded") {
    webhook.unsupported = "the reinvocationPolicy IfNeeded";
  }
  return webhook;
}

absl::StatusOr<bool> NamespaceMatches(const Webhook& webhook, const WriteAttributes& write,
                                      const Json::Value& object, const ObjectReader& objects) {
  const bool is_namespace = write.group.empty() && write.resource == "namespaces";
  const std::string& ns = is_namespace ? write.name : write.ns;
  // What is in no namespace is never exempt.
  if (ns.empty() && !is_namespace) return true;
  if (webhook.namespace_selector.MatchesEverything()) return true;
  if (is_namespace && write.subresource.empty() && write.operation != "DELETE") {
    return webhook.namespace_selector.Matches(LabelsOf(object));
  }
  const GroupResource namespaces{.group = "", .resource = "namespaces"};
  const auto stored = objects.Get(namespaces, "", ns);
  if (stored == nullptr) return NotFoundError(namespaces, ns);
  return webhook.namespace_selector.Matches(stored->labels);
}

bool ObjectMatches(const Webhook& webhook, const WriteAttributes& write,
                   const Json::Value& object) {
  const LabelSelector& selector = webhook.object_selector;
  if (selector.MatchesEverything()) return true;
  return (!object.isNull() && selector.Matches(LabelsOf(object))) ||
         (!write.old_object.isNull() && selector.Matches(LabelsOf(write.old_object)));
}

}  // namespace

std::vector<Webhook> ReadWebhooks(const ObjectReader& objects, WebhookKind kind) {
  const bool mutating = kind == WebhookKind::kMutating;
  std::vector<Webhook> webhooks;
  for (const auto& object : objects.List({kGroup, mutating ? "mutatingwebhookconfigurations"
                                                           : "validatingwebhookconfigurations"})) {
    const Json::Value json = object->Parse();
    for (const Json::Value& hook : Member(json, "webhooks")) {
      webhooks.push_back(Read(object->name, hook));
    }
  }
  return webhooks;
}

bool Matches(const WebhookRule& rule, const WriteAttributes& write) {
  const bool is_namespace = write.group.empty() && write.resource == "namespaces";
  const bool cluster = is_namespace || write.ns.empty();
  if (rule.scope != "*" && rule.scope != (cluster ? "Cluster" : "Namespaced")) return false;
  if (!HasOrAny(rule.operations, write.operation) || !HasOrAny(rule.groups, write.group) ||
      !HasOrAny(rule.versions, write.version)) {
    return false;
  }
  return std::any_of(
      rule.resources.begin(), rule.resources.end(), [&](const std::string& resource) {
        const size_t slash = resource.find('/');
        const std::string parent = resource.substr(0, slash);
        const std::string sub = slash == std::string::npos ? "" : resource.substr(slash + 1);
        return (parent == "*" || parent == write.resource) &&
               (sub == "*" || sub == write.subresource);
      });
}

absl::StatusOr<bool> IsCalled(const Webhook& webhook, const WriteAttributes& write,
                              const Json::Value& object, const ObjectReader& objects) {
  // Webhooks and policies are not sent to webhooks, which could not be got rid of otherwise.
  if (write.group == kGroup) return false;
  const auto in_namespace = NamespaceMatches(webhook, write, object, objects);
  if (in_namespace.ok() && !*in_namespace) return false;
  if (!ObjectMatches(webhook, write, object)) return false;
  if (std::none_of(webhook.rules.begin(), webhook.rules.end(),
                   [&](const WebhookRule& rule) { return Matches(rule, write); })) {
    return false;
  }
  RETURN_IF_ERROR(in_namespace.status());
  if (!webhook.unsupported.empty()) return Unsupported(webhook.unsupported);
  return true;
}

}  // namespace mandate::apiserver
