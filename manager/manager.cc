#include "manager/manager.h"

#include <unistd.h>

#include <map>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "manager/base_check.h"
#include "manager/cache/cache_impl.h"
#include "manager/client/component_client.h"
#include "manager/controller/rest_event_recorder.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/core/thread_pool.h"
#include "manager/health_servers.h"
#include "manager/leader/leader_elector.h"
#include "manager/loop_call.h"
#include "manager/preflight_loop.h"
#include "manager/running_component.h"
#include "manager/telemetry/access_reviewer.h"
#include "manager/telemetry/health.h"
#include "manager/token_check.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/transport_metrics.h"

namespace mandate {
namespace {

// Of the one cluster of these components.
constexpr char kHome[] = "home";

// API servers send each watch a bookmark about once a minute: a connection with watches that stays
// silent for longer is worth a probe, and an idle system sends none.
constexpr absl::Duration kSilenceLimit = absl::Seconds(90);

// Scrapers are few, and what is reviewed is remembered.
constexpr int kReviewThreads = 2;

// Apart from the reconcilers': a component whose token does not come keeps a thread for a whole
// pass, and no other's work waits for that.
constexpr int kPreflightThreads = 2;

// How long events that were recorded before the end may take to be sent.
constexpr absl::Duration kFlushEvents = absl::Seconds(2);

// "hostname_0123456789abcdef": the process, for people: holder of the Lease, source of events.
std::string InstanceName(std::mt19937_64& random) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return absl::StrFormat("%s_%016x%016x", host, random(), random());
}

}  // namespace

// Declared in the order of creation. What belongs to the loop is destroyed on it (Shutdown).
struct Manager::Parts {
  explicit Parts(ManagerOptions o)
      : options(std::move(o)), random(options.seed), instance(InstanceName(random)) {}
  ~Parts() { Shutdown(); }

  void Shutdown();
  absl::Status BuildIdentities(const std::vector<ComponentSpec>& specs);
  absl::StatusOr<std::unique_ptr<ComponentClient>> NewClient(const Identity& identity,
                                                             const rbac::Mandate& mandate);
  absl::Status BuildComponents(const std::vector<ComponentSpec>& specs);
  absl::Status CheckBase();
  absl::Status BuildElector();
  void BuildPreflights();
  void BuildTokenChecks();
  absl::Status BuildReviewer();
  absl::Status ServeHealth();
  void Recheck(std::string_view component);
  void OnTokenStatus(const ComponentIdentity& identity, const TokenStatus& status);
  absl::Status StopEverything();
  absl::Status LostLeadership();
  void FlushEvents();

  ManagerOptions options;
  std::mt19937_64 random;
  const std::string instance;
  Metrics metrics;
  std::unique_ptr<EventLoop> loop;
  std::unique_ptr<HttpTransport> transport;
  std::unique_ptr<TransportMetrics> transport_metrics;
  std::unique_ptr<IdentityPlane> identities;
  std::unique_ptr<ComponentClient> base_client;
  std::vector<std::unique_ptr<ComponentClient>> clients;
  std::vector<std::unique_ptr<RestEventRecorder>> recorders;
  std::unique_ptr<Cache> cache;
  std::unique_ptr<LeaderElector> elector;
  std::unique_ptr<ThreadPool> workers;
  std::vector<std::unique_ptr<RunningComponent>> components;
  std::unique_ptr<ThreadPool> preflight_threads;
  std::vector<std::unique_ptr<PreflightLoop>> preflights;
  std::vector<std::unique_ptr<TokenCheck>> token_checks;
  std::unique_ptr<ThreadPool> review_threads;
  std::unique_ptr<AccessReviewer> reviewer;  // secure metrics only
  HealthChecks ready;
  std::unique_ptr<HealthServers> health;
  // By component; what the identity plane's listener needs.
  std::map<std::string, RunningComponent*, std::less<>> by_name;

  Latch leading;
  // Set when there is a reason to end: a stop request, or leadership lost.
  Latch end;
  Mutex mutex;
  absl::Status lost ABSL_GUARDED_BY(mutex);
};

void Manager::Parts::Shutdown() {
  if (loop == nullptr) return;
  health.reset();
  reviewer.reset();
  review_threads.reset();
  CallOnLoop(*loop, [this] {
    preflights.clear();
    token_checks.clear();
    by_name.clear();  // tokens go on changing; there is nobody left to tell
  });
  // Reconcilers have ended (Run) or never began; what waits for a thread is dropped.
  preflight_threads.reset();
  workers.reset();
  components.clear();
  CallOnLoop(*loop, [this] {
    elector.reset();
    cache.reset();
    recorders.clear();
    clients.clear();
    base_client.reset();
    identities.reset();
    transport_metrics.reset();
    transport.reset();
  });
  loop->Stop();
}

absl::Status Manager::Parts::BuildIdentities(const std::vector<ComponentSpec>& specs) {
  IdentityPlane::Options plane;
  plane.loop = loop.get();
  plane.transport = transport.get();
  plane.clusters = {options.cluster};
  plane.clusters[0].name = kHome;
  for (const ComponentSpec& spec : specs) plane.components.emplace_back(spec.mandate->component);
  plane.ns = options.ns;
  plane.version = options.version;
  plane.mode = options.identity_mode;
  plane.create_service_accounts = options.create_service_accounts;
  plane.bind_to_secrets = options.bind_tokens_to_secrets;
  plane.audiences = options.token_audiences;
  plane.plugin_timeout = options.plugin_timeout;
  plane.accept_certificate = [](const ClientCertificate& certificate) {
    return RefuseAdministrator(certificate);
  };
  plane.log = options.log;
  plane.seed = random();
  plane.metrics = &metrics;
  plane.listener = [this](const ComponentIdentity& identity, const TokenStatus& status) {
    OnTokenStatus(identity, status);
  };
  ASSIGN_OR_RETURN(identities, IdentityPlane::Create(std::move(plane)));
  ASSIGN_OR_RETURN(BaseIdentity * base, identities->Base(BaseKey(), kHome));
  ASSIGN_OR_RETURN(base_client, NewClient(*base, *options.base_mandate));
  for (const ComponentSpec& spec : specs) {
    ASSIGN_OR_RETURN(ComponentIdentity * identity,
                     identities->Component(kHome, spec.mandate->component));
    ASSIGN_OR_RETURN(auto client, NewClient(*identity, *spec.mandate));
    ASSIGN_OR_RETURN(auto recorder, RestEventRecorder::Create({.client = client.get(),
                                                               .instance = instance,
                                                               .metrics = &metrics,
                                                               .log = options.log,
                                                               .seed = random()}));
    clients.push_back(std::move(client));
    recorders.push_back(std::move(recorder));
  }
  ReflectorOptions reflector;
  reflector.max_bytes = options.max_watch_bytes;
  ASSIGN_OR_RETURN(cache, Cache::Create({.loop = *loop,
                                         .metrics = metrics,
                                         .log = options.log,
                                         .seed = random(),
                                         .reflector = reflector}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ComponentClient>> Manager::Parts::NewClient(
    const Identity& identity, const rbac::Mandate& mandate) {
  const Logger log = options.log.With("component", mandate.component);
  return ComponentClient::Create({
      .loop = loop.get(),
      .transport = transport.get(),
      .identity = &identity,
      .mandate = &mandate,
      .guard = options.guard,
      .seed = random(),
      .metrics = &metrics,
      .on_warning =
          [log](std::string_view text) {
            log.Info("The API server warns", {{"warning", text}});
          },
      .on_undeclared =
          [log](const absl::Status& status) {
            log.Error("A request is not declared by any marker", {{"reason", status}});
          },
      .on_forbidden = [this, component = mandate.component] { Recheck(component); },
  });
}

absl::Status Manager::Parts::BuildComponents(const std::vector<ComponentSpec>& specs) {
  workers = std::make_unique<ThreadPool>(options.workers);
  for (size_t i = 0; i < specs.size(); ++i) {
    ASSIGN_OR_RETURN(auto component,
                     RunningComponent::Create(
                         specs[i], {.client = *clients[i],
                                    .events = *recorders[i],
                                    .cache = *cache,
                                    .workers = *workers,
                                    .metrics = metrics,
                                    .log = options.log,
                                    .seed = random(),
                                    .has_token = options.identity_mode == IdentityMode::kToken}));
    by_name[std::string(component->name())] = component.get();
    components.push_back(std::move(component));
  }
  return absl::OkStatus();
}

absl::Status Manager::Parts::CheckBase() {
  const bool plugin = std::holds_alternative<ExecPlugin>(options.cluster.base);
  const absl::Duration patience =
      options.startup_timeout + (plugin ? options.plugin_timeout : absl::ZeroDuration());
  const CallContext context{loop->clock().TimeNow() + patience, {}};
  RETURN_IF_ERROR(CheckServer(context, *base_client, options.cluster.endpoint));
  options.log.Info("Connected", {{"server", options.cluster.endpoint.server}});
  return absl::OkStatus();
}

absl::Status Manager::Parts::BuildElector() {
  if (!options.leader_elect) return absl::OkStatus();
  LeaderElector::Options elect;
  elect.lease = {options.ns, options.lease_name};
  elect.identity = instance;
  elect.client = base_client.get();
  elect.metrics = &metrics;
  elect.log = options.log;
  elect.seed = random();
  elect.on_leading = [this] { leading.Set(); };
  elect.on_lost = [this](const absl::Status& why) {
    {
      MutexLock lock(mutex);
      lost = absl::AbortedError(why.message());
    }
    end.Set();
  };
  ASSIGN_OR_RETURN(elector, LeaderElector::Create(std::move(elect)));
  return absl::OkStatus();
}

void Manager::Parts::BuildPreflights() {
  preflight_threads = std::make_unique<ThreadPool>(kPreflightThreads);
  for (const auto& component : components) {
    PreflightLoop::Options preflight;
    preflight.client = &component->client();
    preflight.workers = preflight_threads.get();
    preflight.preflight.mandate = &component->mandate();
    preflight.preflight.mode = options.identity_mode;
    preflight.preflight.base = base_client.get();
    preflight.seed = random();
    preflight.metrics = &metrics;
    if (const auto identity = identities->Component(kHome, component->name()); identity.ok()) {
      preflight.preflight.username = (*identity)->username();
      preflight.preflight.service_account = (*identity)->service_account();
      preflight.preflight.ns = (*identity)->ns();
    }
    preflight.report = [this, running = component.get()](absl::Status found) {
      // What was refused before may be granted now: watches need not wait for their next try.
      if (running->OnPreflight(std::move(found))) cache->Poke(running->name());
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
    // Spread over the period.
    const double part = static_cast<double>(token_checks.size() + 1) / components.size();
    token_checks.push_back(std::make_unique<TokenCheck>(TokenCheck::Options{
        .client = &component->client(), .period = period, .first = period * part}));
  }
}

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
  serve.metrics_judge = [this](const JudgedRequest& request,
                               std::function<void(std::optional<ServedResponse>)> answer) {
    reviewer->Judge(request, std::move(answer));
  };
  serve.ready = &ready;
  serve.metrics = &metrics;
  serve.loop = loop.get();
  serve.log = options.log;
  ASSIGN_OR_RETURN(health, HealthServers::Create(serve));
  return absl::OkStatus();
}

void Manager::Parts::OnTokenStatus(const ComponentIdentity& identity, const TokenStatus& status) {
  const auto found = by_name.find(identity.name());
  if (found != by_name.end()) found->second->OnTokenStatus(status);
}

absl::Status Manager::Parts::StopEverything() {
  absl::Status result = LostLeadership();
  // Without the Lease nothing more may be done: what runs is cancelled and not waited for.
  const absl::Duration grace =
      result.ok() ? options.graceful_shutdown_timeout : absl::ZeroDuration();
  const absl::Time deadline = loop->clock().TimeNow() + grace;
  // All end at once, so that they share the time.
  for (const auto& component : components) component->RequestStop();
  for (const auto& component : components) result.Update(component->StopControllers(deadline));
  // The Lease goes last: whoever takes it over may act at once. While a reconciler still runs it is
  // ours: it ends with the process, and runs out.
  if (elector != nullptr && !absl::IsDeadlineExceeded(result)) {
    Latch released;
    loop->Post([&] { elector->Stop([&] { released.Set(); }); });
    loop->Await(released);
  }
  FlushEvents();
  result.Update(LostLeadership());
  return result;
}

absl::Status Manager::Parts::LostLeadership() {
  MutexLock lock(mutex);
  return lost;
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
  ASSIGN_OR_RETURN(parts->loop, EventLoop::Create());
  ASSIGN_OR_RETURN(parts->transport,
                   HttpTransport::Create(*parts->loop, {.silence_limit = kSilenceLimit}));
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
