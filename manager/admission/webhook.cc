#include "manager/admission/webhook.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "manager/core/strings.h"

namespace mandate {

std::string WebhookPath(WebhookType type, const KindInfo& kind) {
  std::string group(kind.group);
  std::replace(group.begin(), group.end(), '.', '-');
  return StrCat(type == WebhookType::kMutating ? "/mutate-" : "/validate-", group, "-",
                kind.version, "-", absl::AsciiStrToLower(AsAbsl(kind.kind)));
}

absl::Status CheckServedMatchesDeclared(const rbac::Mandate& mandate,
                                        const std::vector<Webhook>& served) {
  std::set<std::string_view> declared, paths;
  for (const rbac::DeclaredWebhook& webhook : mandate.webhooks) declared.insert(webhook.path);
  for (const Webhook& webhook : served) {
    if (webhook.conversions == nullptr) paths.insert(webhook.path);
  }
  std::vector<std::string> errors;
  for (const std::string_view path : paths) {
    if (declared.contains(path)) continue;
    errors.push_back(
        StrCat("it serves ", path,
               ", which no marker declares, so the API server does not call it: write // "
               "+kubebuilder:webhook:path=",
               path, ",… below its component marker"));
  }
  for (const std::string_view path : declared) {
    if (paths.contains(path)) continue;
    errors.push_back(StrCat("it does not serve ", path,
                            ", which a marker declares, so the API server calls it: serve it, "
                            "or correct or remove the marker, and run make manifests"));
  }
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(
      "component ", mandate.component,
      " does not serve the webhooks that its markers declare: ", absl::StrJoin(errors, "; ")));
}

absl::Status UnknownOperation(std::string_view operation) {
  return absl::InvalidArgumentError(StrCat("unknown operation \"", operation,
                                           "\"; it must be CREATE, UPDATE, DELETE or CONNECT"));
}

}  // namespace mandate
