#include "manager/admission/webhook_server.h"

#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {

absl::StatusOr<std::unique_ptr<WebhookServer>> WebhookServer::Create(const Options& options) {
  std::unique_ptr<WebhookServer> webhooks(new WebhookServer());
  ASSIGN_OR_RETURN(webhooks->certificate_, ServingCertificate::Create(options.certificate));
  HttpServer::Options http;
  http.address = options.address;
  for (ComponentWebhooks* component : options.components) {
    for (const auto& [path, route] : component->Routes()) {
      if (!http.posts.emplace(path, route).second) {
        return absl::InvalidArgumentError(
            StrCat("two components have the webhook ", path, "; change the path of one of them"));
      }
    }
  }
  http.certificate = webhooks->certificate_.get();
  // The API server opens as many connections as it has reviews in flight.
  http.max_connections = 1024;
  http.idle_timeout = absl::Minutes(5);
  http.metrics = &options.metrics;
  http.log = options.log;
  ASSIGN_OR_RETURN(webhooks->server_, HttpServer::Create(std::move(http)));
  options.log.Info("Serving webhooks", {{"address", webhooks->address()}});
  return webhooks;
}

}  // namespace mandate
