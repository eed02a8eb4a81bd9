// The servers of a Manager: health, metrics and webhooks.
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/loop_call.h"
#include "manager/manager_parts.h"

namespace mandate {
namespace {

// There are few scrapers, and reviews are cached.
constexpr int kReviewThreads = 2;

}  // namespace

absl::Status Manager::Parts::BuildReviewer() {
  const auto found = by_name.find(kMetricsAuth.component);
  if (!options.metrics_secure) return absl::OkStatus();
  if (found == by_name.end()) {
    return absl::InvalidArgumentError(
        StrCat("secure metrics need the component ", kMetricsAuth.component));
  }
  review_threads = std::make_unique<ThreadPool>(kReviewThreads);
  ASSIGN_OR_RETURN(
      reviewer, AccessReviewer::Create(
                    {.client = &found->second->client(),
                     .workers = review_threads.get(),
                     .metrics = &metrics,
                     .log = options.log.With("component", std::string(kMetricsAuth.component))}));
  return absl::OkStatus();
}

absl::Status Manager::Parts::ServeHealth() {
  for (const auto& component : components) {
    ready.Add(std::string(component->name()),
              [running = component.get()] { return running->Ready(); });
  }
  if (options.webhook_certificate != nullptr) {
    ready.Add("webhook-certificate", [this] { return options.webhook_certificate->Ready(); });
    ready.Add("webhooks", [this] { return WebhooksReady(); });
  }
  for (const auto& cluster : clusters) {
    ready.AddWarning(cluster == clusters[0] ? "base" : StrCat("base-", cluster->name),
                     [base = cluster->base.get()] { return base->Warning(); });
  }
  if (elector != nullptr) {
    ready.Add("leader-election", [this] { return elector->status(); });
  }
  HealthServers::Options serve;
  serve.health_address = options.health_address;
  serve.metrics_address = options.metrics_address;
  serve.grpc_address = options.grpc_health_address;
  serve.metrics_secure = options.metrics_secure;
  serve.metrics_certificate = options.metrics_certificate;
  serve.metrics_certificate.log = options.log;
  serve.metrics_access_check = [this](const AccessRequest& request,
                                      std::function<void(std::optional<ServedResponse>)> answer) {
    reviewer->Check(request, std::move(answer));
  };
  serve.ready = &ready;
  serve.metrics = &metrics;
  serve.loop = loop.get();
  serve.log = options.log;
  ASSIGN_OR_RETURN(health, HealthServers::Create(serve));
  return absl::OkStatus();
}

absl::Status Manager::Parts::ServeDebug() {
  if (options.debug_address == "0") return absl::OkStatus();
  DebugServer::Options serve{.address = options.debug_address,
                             .loop = loop.get(),
                             .metrics = &metrics,
                             .log = options.log};
  for (const auto& cluster : clusters) serve.caches.push_back(cluster->cache.get());
  for (const auto& component : components) {
    for (const auto& controller : component->controllers()) {
      serve.controllers.push_back(controller.get());
    }
  }
  auto served = DebugServer::Create(std::move(serve));
  if (!served.ok()) {
    return absl::Status(served.status().code(),
                        StrCat("--debug-bind-address: ", AsStd(served.status().message())));
  }
  debug = *std::move(served);
  return absl::OkStatus();
}

std::vector<ComponentWebhooks*> Manager::Parts::AllWebhooks() const {
  std::vector<ComponentWebhooks*> found;
  for (const auto& component : components) {
    if (component->webhooks() != nullptr) found.push_back(component->webhooks());
  }
  return found;
}

// For a Service's endpoints, which the webhooks of all components share: one component that lacks a
// permission must not make the others' webhooks unreachable.
absl::Status Manager::Parts::WebhooksReady() const {
  RETURN_IF_ERROR(options.webhook_certificate->Ready());
  for (const ComponentWebhooks* hooks : AllWebhooks()) RETURN_IF_ERROR(hooks->DemandsSettled());
  return absl::OkStatus();
}

absl::Status Manager::Parts::ServeWebhooks() {
  std::vector<ComponentWebhooks*> served = AllWebhooks();
  if (served.empty() || options.webhook_address == "0") return absl::OkStatus();
  if (options.webhook_certificate == nullptr) {
    return absl::InvalidArgumentError(
        "webhooks are served over HTTPS: ManagerOptions::webhook_certificate must be set");
  }
  WebhookServer::Options serve{.address = options.webhook_address,
                               .certificate = *options.webhook_certificate,
                               .components = std::move(served),
                               .metrics = metrics,
                               .log = options.log};
  ASSIGN_OR_RETURN(webhooks, WebhookServer::Create(serve));
  return absl::OkStatus();
}

void Manager::Parts::DrainWebhooks(absl::Time requested) {
  if (webhooks == nullptr) return;
  if (!Lost().ok()) return webhooks.reset();
  Latch over;
  const absl::Time end = requested + options.webhook_drain_duration;
  std::unique_ptr<Loop::Timer> timer;
  CallOnLoop(*loop, [&] { timer = loop->RunAt(end, [&] { over.Set(); }); });
  over.Wait();
  CallOnLoop(*loop, [&] { timer.reset(); });
  webhooks.reset();
}

}  // namespace mandate
