#include "manager/manager.h"

#include <thread>
#include <utility>

#include "manager/base_check.h"
#include "manager/base_name.h"
#include "manager/core/log_reason.h"
#include "manager/core/status_macros.h"
#include "manager/loop_call.h"
#include "manager/manager_parts.h"

namespace mandate {
namespace {

// API servers send each watch a bookmark about once a minute. So a connection with watches is
// probed only if it is silent for longer, and an idle system sends no probes.
constexpr absl::Duration kSilenceLimit = absl::Seconds(90);

// The time limit for sending the events that were recorded before the end.
constexpr absl::Duration kFlushEvents = absl::Seconds(2);
// The same for the last spans.
constexpr absl::Duration kFlushTraces = absl::Seconds(2);

}  // namespace

absl::Status Manager::Parts::StopEverything() {
  absl::Status result = Lost();
  // After Lost(), no more work is allowed: running work is cancelled without waiting for its end.
  const absl::Duration grace =
      result.ok() ? options.graceful_shutdown_timeout : absl::ZeroDuration();
  const absl::Time requested = loop->clock().TimeNow();
  const absl::Time deadline = requested + grace;
  if (webhooks != nullptr) webhooks->Drain();
  // All end at once, so that they share the time.
  for (const auto& component : components) component->RequestStop();
  bool runs = false;
  for (const auto& component : components) {
    const absl::Status status = component->StopControllers(deadline);
    runs = runs || absl::IsDeadlineExceeded(status);
    result.Update(status);
  }
  // The Lease is released last, because the next leader may act at once. While a reconciler still
  // runs, the Lease stays ours until it expires after the end of the process.
  if (elector != nullptr && !runs && Lost().ok()) {
    Latch released;
    loop->Post([&] { elector->Stop([&] { released.Set(); }); });
    loop->Await(released);
  }
  // Another process may lead already, so this one writes nothing more.
  if (Lost().ok()) FlushEvents();
  DrainWebhooks(requested);
  for (ComponentWebhooks* hooks : AllWebhooks()) result.Update(hooks->Stop(deadline));
  if (Lost().ok()) CloseWatches(deadline);
  // Nothing that is traced runs any more, unless it did not stop in time.
  if (tracer != nullptr) tracer->Shutdown(loop->clock().TimeNow() + kFlushTraces);
  result.Update(Lost());
  return result;
}

void Manager::Parts::FlushEvents() {
  const absl::Time deadline = loop->clock().TimeNow() + kFlushEvents;
  for (const auto& recorder : recorders) {
    Latch flushed;
    recorder->Flush(deadline, [&] { flushed.Set(); });
    loop->Await(flushed);
  }
}

void Manager::Parts::CloseWatches(absl::Time deadline) {
  std::vector<std::unique_ptr<Latch>> closed;
  for (const auto& cluster : clusters) {
    closed.push_back(std::make_unique<Latch>());
    loop->Post([&cache = *cluster->cache, deadline, over = closed.back().get()] {
      cache.Close(deadline, [over] { over->Set(); });
    });
  }
  for (const auto& latch : closed) loop->Await(*latch);
}

Manager::Manager(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Manager::~Manager() = default;

absl::StatusOr<std::unique_ptr<Manager>> Manager::Create(ManagerOptions options,
                                                         std::vector<ComponentSpec> components) {
  if (options.base_mandate == nullptr) {
    return absl::InvalidArgumentError(
        "ManagerOptions::base_mandate is missing: use kBase of the header that "
        "`rbacgen header --base=only` writes");
  }
  const std::string base_name = BaseName(*options.base_mandate);
  RETURN_IF_ERROR(RejectAdministrator(options.cluster, base_name));
  for (const ClusterConfig& cluster : options.clusters) {
    RETURN_IF_ERROR(RejectAdministrator(cluster, base_name));
  }
  RETURN_IF_ERROR(CheckWatchedNamespaces(options.watch_namespaces));
  auto parts = std::make_unique<Parts>(std::move(options));
  parts->Place(components);
  RETURN_IF_ERROR(parts->BuildClusters(components));
  RETURN_IF_ERROR(parts->BuildTracer());
  RETURN_IF_ERROR(parts->BuildLoop());
  HttpOptions transport = parts->options.transport;
  transport.read_idle_timeout = kSilenceLimit;
  transport.log = parts->options.log;
  ASSIGN_OR_RETURN(parts->transport, HttpTransport::Create(*parts->loop, std::move(transport)));
  parts->transport_metrics = std::make_unique<TransportMetrics>(
      TransportMetrics::Options{.loop = parts->loop.get(),
                                .metrics = &parts->metrics,
                                .transport = [&p = *parts] { return p.transport->stats(); },
                                .loop_stats = [&p = *parts] { return p.loop->stats(); }});
  RETURN_IF_ERROR(CallOnLoop(*parts->loop, [&] {
    parts->transport_metrics->Start();
    RETURN_IF_ERROR(parts->BuildIdentities(components));
    parts->BuildBases(components);
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(parts->CheckBase());
  RETURN_IF_ERROR(parts->BuildComponents(components));
  RETURN_IF_ERROR(CallOnLoop(*parts->loop, [&] {
    parts->BuildPreflights();
    parts->KeepCheckingBases();
    parts->BuildTokenChecks();
    return parts->BuildElector();
  }));
  RETURN_IF_ERROR(parts->BuildReviewer());
  RETURN_IF_ERROR(parts->ServeHealth());
  RETURN_IF_ERROR(parts->ServeDebug());
  RETURN_IF_ERROR(parts->ServeWebhooks());
  return std::unique_ptr<Manager>(new Manager(std::move(parts)));
}

absl::Status Manager::Run(std::stop_token stop) {
  Parts& p = *parts_;
  const std::stop_callback on_stop(stop, [&p] { p.end.Set(); });
  CallOnLoop(*p.loop, [&p] {
    p.identities->Start();
    for (const auto& preflight : p.preflights) preflight->Start();
    for (const auto& check : p.token_checks) check->Start();
    if (p.elector != nullptr) {
      p.elector->Start();
    } else {
      p.leading.Set();
    }
  });
  for (const auto& component : p.components) component->StartOnEveryReplica();
  // Controllers start when leading, while this thread waits for the end.
  std::jthread starter([&p] {
    p.leading.Wait();
    if (p.end.IsSet()) return;
    for (const auto& component : p.components) component->StartControllers();
  });
  p.end.Wait();
  p.leading.Set();
  starter.join();
  p.options.log.Info("Stopping");
  const absl::Status status = p.StopEverything();
  p.options.log.Info("Stopped", {{"status", status.ok() ? "OK" : LogReason(status)}});
  return status;
}

}  // namespace mandate
