#include "manager/admission/webhook_server.h"

#include <utility>

#include "manager/core/strings.h"

namespace mandate {
absl::StatusOr<std::unique_ptr<WebhookServer>> WebhookServer::Create(const Options& options) {
  std::unique_ptr<WebhookServer> webhooks(new WebhookServer());
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
  http.certificate = &options.certificate;
  // The API server opens as many connections as it has reviews in flight.
  http.max_connections = 1024;
  http.idle_timeout = absl::Minutes(5);
  http.metrics = &options.metrics;
  http.log = options.log;
  auto server = HttpServer::Create(std::move(http));
  if (!server.ok()) {
    return absl::Status(server.status().code(),
                        StrCat("--webhook-bind-address: ", AsStd(server.status().message())));
  }
  webhooks->server_ = *std::move(server);
  options.log.Info("Serving webhooks", {{"address", webhooks->address()}});
  return webhooks;
}

}  // namespace mandate
