#include "manager/manager.h"

#include <thread>
#include <utility>

#include "manager/base_check.h"
#include "manager/core/status_macros.h"
#include "manager/loop_call.h"
#include "manager/manager_parts.h"

namespace mandate {
namespace {

// API servers send each watch a bookmark about once a minute: a connection with watches that stays
// silent for longer is worth a probe, and an idle system sends none.
constexpr absl::Duration kSilenceLimit = absl::Seconds(90);

// How long events that were recorded before the end may take to be sent.
constexpr absl::Duration kFlushEvents = absl::Seconds(2);

}  // namespace

absl::Status Manager::Parts::StopEverything() {
  absl::Status result = Lost();
  // Nothing more may be done then: what runs is cancelled and not waited for.
  const absl::Duration grace =
      result.ok() ? options.graceful_shutdown_timeout : absl::ZeroDuration();
  const absl::Time deadline = loop->clock().TimeNow() + grace;
  // All end at once, so that they share the time.
  for (const auto& component : components) component->RequestStop();
  bool runs = false;
  for (const auto& component : components) {
    const absl::Status status = component->StopControllers(deadline);
    runs = runs || absl::IsDeadlineExceeded(status);
    result.Update(status);
  }
  // The Lease goes last: the next leader may act at once. While a reconciler still runs it is
  // ours: it ends with the process, and runs out.
  if (elector != nullptr && !runs && Lost().ok()) {
    Latch released;
    loop->Post([&] { elector->Stop([&] { released.Set(); }); });
    loop->Await(released);
  }
  // Somebody else may lead already: nothing more is written.
  if (Lost().ok()) FlushEvents();
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

Manager::Manager(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Manager::~Manager() = default;

absl::StatusOr<std::unique_ptr<Manager>> Manager::Create(ManagerOptions options,
                                                         std::vector<ComponentSpec> components) {
  RETURN_IF_ERROR(RefuseAdministrator(options.cluster));
  auto parts = std::make_unique<Parts>(std::move(options));
  RETURN_IF_ERROR(parts->BuildLoop());
  HttpOptions transport = parts->options.transport;
  transport.silence_limit = kSilenceLimit;
  transport.log = parts->options.log;
  ASSIGN_OR_RETURN(parts->transport, HttpTransport::Create(*parts->loop, std::move(transport)));
  parts->transport_metrics = std::make_unique<TransportMetrics>(
      TransportMetrics::Options{.loop = parts->loop.get(),
                                .metrics = &parts->metrics,
                                .transport = [&p = *parts] { return p.transport->stats(); },
                                .loop_stats = [&p = *parts] { return p.loop->stats(); }});
  RETURN_IF_ERROR(CallOnLoop(*parts->loop, [&] {
    parts->transport_metrics->Start();
    return parts->BuildIdentities(components);
  }));
  RETURN_IF_ERROR(parts->CheckBase());
  RETURN_IF_ERROR(parts->BuildComponents(components));
  RETURN_IF_ERROR(CallOnLoop(*parts->loop, [&] {
    parts->BuildPreflights();
    parts->BuildBasePowerLoop();
    parts->BuildTokenChecks();
    return parts->BuildElector();
  }));
  RETURN_IF_ERROR(parts->BuildReviewer());
  RETURN_IF_ERROR(parts->ServeHealth());
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
  p.options.log.Info("Stopped", {{"status", status}});
  return status;
}

}  // namespace mandate
