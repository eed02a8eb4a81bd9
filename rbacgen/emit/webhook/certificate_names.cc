#include "rbacgen/emit/webhook/certificate_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {
namespace {

// The name of the component in a program (controllers/certificates/settings.h).
constexpr char kCertificates[] = "webhook-certificates";

// The plural of a configuration, and its name.
using Configuration = std::pair<std::string, std::string>;

std::string PluralOf(bool mutating) {
  return mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
}

// By configuration, the first of its webhooks.
std::map<Configuration, const Webhook*> MadeBy(const Webhooks& webhooks,
                                               const std::string& base_name) {
  std::map<Configuration, const Webhook*> made;
  for (const Webhook& webhook : webhooks.webhooks) {
    if (webhook.component.empty()) continue;
    const char* const kind = webhook.mutating ? "-mutating" : "-validating";
    const std::string name = ServiceAccountName(base_name, webhook.component) + kind;
    made.try_emplace({PluralOf(webhook.mutating), name}, &webhook);
  }
  return made;
}

bool NeedsCertificate(const Webhook& webhook) {
  return !webhook.names_service && !webhook.object["clientConfig"].isMember("url");
}

}  // namespace

void CheckCertificateNames(const Webhooks& webhooks, const Sources& sources,
                           const std::string& base_name, Diagnostics* diagnostics) {
  if (!sources.components.contains(kCertificates)) return;
  const std::map<Configuration, const Webhook*> made = MadeBy(webhooks, base_name);
  if (made.empty()) return;
  std::set<std::string> all;  // plurals without resourceNames
  std::set<Configuration> named;
  for (const Declaration& declaration : sources.declarations) {
    if (declaration.component != kCertificates) continue;
    const rbac::Rule& rule = declaration.rule;
    for (const std::string& plural : {PluralOf(true), PluralOf(false)}) {
      if (std::ranges::find(rule.resources, plural) == rule.resources.end()) continue;
      if (rule.resource_names.empty()) all.insert(plural);
      for (const std::string& name : rule.resource_names) {
        named.insert({plural, name});
        if (made.contains({plural, name})) continue;
        diagnostics->Error(
            declaration.place,
            StrCat("no webhook of the sources is in ", plural, " \"", name, "\"; the names are ",
                   absl::StrJoin(made, ", ",
                                 [](std::string* out, const auto& entry) {
                                   out->append(entry.first.second);
                                 }),
                   "; correct it, or remove it"));
      }
    }
  }
  for (const auto& [configuration, webhook] : made) {
    const auto& [plural, name] = configuration;
    if (!NeedsCertificate(*webhook) || all.contains(plural) || named.contains(configuration)) {
      continue;
    }
    diagnostics->Error(
        webhook->place,
        StrCat("the component ", kCertificates, " may not write the caBundle of ", plural, " \"",
               name, "\", so the API server would not trust the webhook ", webhook->name(),
               "; add the name to the resourceNames in its marker"));
  }
}

}  // namespace mandate::rbacgen
