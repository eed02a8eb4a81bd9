#include "manager/manager_parts.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_format.h"
#include "manager/base_name.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/loop_call.h"
#include "manager/preflight.h"
#include "manager/rbac/events_rule.h"

namespace mandate {
namespace {

// "hostname_0123456789abcdef": the name of the process, as the holder of the Lease and the source
// of events.
std::string InstanceName(std::mt19937_64& random) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return absl::StrFormat("%s_%016x%016x", host, random(), random());
}

}  // namespace

Manager::Parts::Parts(ManagerOptions o)
    : options(std::move(o)), random(options.seed), instance(InstanceName(random)) {}

void Manager::Parts::Place(std::vector<ComponentSpec>& specs) {
  for (ComponentSpec& spec : specs) {
    mandates.push_back(std::make_unique<rbac::MandateInNamespace>(*spec.mandate, options.ns));
    spec.mandate = &mandates.back()->mandate();
  }
}

void Manager::Parts::Shutdown() {
  if (loop == nullptr) return;
  if (watchdog_loop != nullptr) watchdog_loop->Stop();
  watchdog.reset();
  webhooks.reset();
  debug.reset();
  health.reset();
  reviewer.reset();
  review_threads.reset();
  CallOnLoop(*loop, [this] {
    preflights.clear();
    token_checks.clear();
    for (const auto& cluster : clusters) {
      if (cluster->base != nullptr) cluster->base->StopChecking();
    }
    by_name.clear();  // a later change of a token notifies no component
  });
  // Reconcilers have ended (Run) or never began. Tasks that wait for a thread are dropped.
  preflight_threads.reset();
  workers.clear();
  components.clear();
  CallOnLoop(*loop, [this] {
    elector.reset();
    for (const auto& cluster : clusters) {
      cluster->base.reset();
      cluster->cache.reset();
    }
    recorders.clear();
    clients.clear();
    clusters.clear();
    identities.reset();
    transport_metrics.reset();
    transport.reset();
  });
  loop->Stop();
}

absl::Status Manager::Parts::BuildLoop() {
  ASSIGN_OR_RETURN(loop, EventLoop::Create(
                             {.turn_limit = options.loop_block_warning_after, .log = options.log}));
  // It has a thread of its own, because it reports when the loop is busy.
  ASSIGN_OR_RETURN(watchdog_loop, EventLoop::Create({.thread_name = "watchdog"}));
  watchdog = std::make_unique<LoopWatchdog>(LoopWatchdog::Options{.loop = watchdog_loop.get(),
                                                                  .activity = &loop->activity(),
                                                                  .metrics = &metrics,
                                                                  .log = options.log});
  watchdog_loop->Post([raw = watchdog.get()] { raw->Start(); });
  return absl::OkStatus();
}

absl::Status Manager::Parts::BuildComponents(const std::vector<ComponentSpec>& specs) {
  for (size_t i = 0; i < specs.size(); ++i) {
    // One thread for the strand. Those for the reconcilers are added when their number is known.
    workers.push_back(std::make_unique<ThreadPool>(1));
    EventRecorder* events = &no_events;
    ManagedCluster& cluster = Cluster(specs[i].cluster);
    const rbac::RuleView& record = rbac::kEventsRule;
    if (rbac::PermitsSomewhere(*specs[i].mandate, record.verbs[0], record.api_groups[0],
                               record.resources[0])) {
      events = recorders[i].get();
    }
    ASSIGN_OR_RETURN(auto component,
                     RunningComponent::Create(
                         specs[i], {.client = *clients[i],
                                    .events = *events,
                                    .cache = *cluster.cache,
                                    .workers = *workers.back(),
                                    .metrics = cluster.metrics,
                                    .log = cluster.log,
                                    .seed = random(),
                                    .ns = options.ns,
                                    .watch_namespaces = options.watch_namespaces,
                                    .access_hints = cluster.hints.get(),
                                    .webhook_limits = options.webhook_limits,
                                    .tracer = tracer.get(),
                                    .has_token = options.identity_mode == IdentityMode::kToken}));
    workers.back()->AddThreads(component->concurrency());
    components.push_back(std::move(component));
    CallOnLoop(*loop, [this, raw = components.back().get()] { Register(*raw); });
  }
  return absl::OkStatus();
}

absl::Status Manager::Parts::Lost() {
  MutexLock lock(mutex);
  return lost;
}

void Manager::Parts::Lose(const absl::Status& why) {
  {
    MutexLock lock(mutex);
    if (lost.ok()) lost = why;
  }
  end.Set();
}

absl::Status Manager::Parts::BuildElector() {
  if (!options.leader_elect) return absl::OkStatus();
  LeaderElector::Options elect;
  elect.lease = {options.ns, BaseName(*options.base_mandate)};
  elect.identity = instance;
  elect.client = clusters[0]->base_client.get();
  elect.metrics = &metrics;
  elect.log = options.log;
  elect.seed = random();
  elect.on_leading = [this] { leading.Set(); };
  elect.on_lost = [this](const absl::Status& why) { Lose(absl::AbortedError(why.message())); };
  elect.on_restored = [this] {
    if (clusters[0]->cache != nullptr) clusters[0]->cache->ReadAgain();
  };
  ASSIGN_OR_RETURN(elector, LeaderElector::Create(std::move(elect)));
  return absl::OkStatus();
}

void Manager::Parts::BuildPreflights() {
  // One thread for each component, and one for base in each cluster. A component without a token
  // keeps its thread for a whole check, and no other component waits for that.
  preflight_threads =
      std::make_unique<ThreadPool>(static_cast<int>(components.size() + clusters.size()));
  for (const auto& component : components) {
    ManagedCluster& cluster = Cluster(component->cluster());
    PreflightOptions asked{.mandate = &component->mandate(),
                           .mode = options.identity_mode,
                           .base = cluster.base_client.get(),
                           .watch_namespaces = options.watch_namespaces};
    if (const auto identity = identities->Component(cluster.name, component->name());
        identity.ok()) {
      asked.username = (*identity)->username();
      asked.service_account = (*identity)->service_account();
      asked.ns = (*identity)->ns();
    }
    PreflightLoop::Options preflight;
    preflight.loop = loop.get();
    preflight.workers = preflight_threads.get();
    preflight.component = std::string(component->name());
    preflight.check = PreflightCheck(component->client(), std::move(asked));
    preflight.seed = random();
    preflight.metrics = &cluster.metrics;
    preflight.report = [running = component.get()](absl::Status found) {
      running->OnPreflight(std::move(found));
    };
    preflights.push_back(std::make_unique<PreflightLoop>(std::move(preflight)));
  }
}

void Manager::Parts::Recheck(std::string_view component) {
  for (const auto& preflight : preflights) {
    if (preflight->component() == component) preflight->Recheck();
  }
}

void Manager::Parts::BuildTokenChecks() {
  if (!options.bind_tokens_to_secrets || options.identity_mode != IdentityMode::kToken) return;
  const absl::Duration period = options.token_check_period;
  for (const auto& component : components) {
    // The first checks are spread over the period.
    const double part = static_cast<double>(token_checks.size() + 1) / components.size();
    token_checks.push_back(std::make_unique<TokenCheck>(TokenCheck::Options{
        .client = &component->client(), .period = period, .initial_delay = period * part}));
  }
}

void Manager::Parts::Register(RunningComponent& component) {
  by_name[std::string(component.name())] = &component;
  if (options.identity_mode != IdentityMode::kToken) return;
  // The demands of its webhooks may have fetched its token already.
  const auto identity = identities->Component(Cluster(component.cluster()).name, component.name());
  if (identity.ok()) component.OnTokenStatus(identities->Status(**identity));
}

void Manager::Parts::OnTokenStatus(const ComponentIdentity& identity, const TokenStatus& status) {
  const auto found = by_name.find(identity.name());
  if (found != by_name.end()) found->second->OnTokenStatus(status);
}

}  // namespace mandate
