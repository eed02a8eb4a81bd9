#include "manager/manager_parts.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "manager/base_check.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/loop_call.h"
#include "manager/preflight.h"
#include "manager/rbac/events_rule.h"

namespace mandate {
namespace {

// Of the one cluster of these components.
constexpr char kHome[] = "home";

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
    base_permissions_loop.reset();
    by_name.clear();  // a later change of a token notifies no component
  });
  // Reconcilers have ended (Run) or never began. Tasks that wait for a thread are dropped.
  preflight_threads.reset();
  workers.clear();
  components.clear();
  CallOnLoop(*loop, [this] {
    elector.reset();
    base_user_check.reset();
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

absl::Status Manager::Parts::BuildIdentities(const std::vector<ComponentSpec>& specs) {
  IdentityRegistry::Options plane;
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
  plane.exec_plugin_timeout = options.exec_plugin_timeout;
  plane.accept_certificate = [](const ClientCertificate& certificate) {
    return RejectAdministrator(certificate);
  };
  // Base has a token, and checks it. Earlier tokens are checked together with it.
  plane.on_new_base_token = [this](const std::string&) {
    if (base_user_check != nullptr) base_user_check->OnNewToken();
  };
  plane.log = options.log;
  plane.seed = random();
  plane.metrics = &metrics;
  plane.listener = [this](const ComponentIdentity& identity, const TokenStatus& status) {
    OnTokenStatus(identity, status);
  };
  ASSIGN_OR_RETURN(identities, IdentityRegistry::Create(std::move(plane)));
  ASSIGN_OR_RETURN(BaseIdentity * base, identities->Base(BaseAccess(), kHome));
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
                                         .max_watch_bytes = options.max_watch_bytes,
                                         .max_list_bytes = options.max_watch_bytes,
                                         .transform = options.transform,
                                         .reflector = reflector}));
  hints = std::make_unique<ComponentHints>(*cache);
  for (const auto& client : clients) {
    ASSIGN_OR_RETURN(const ComponentIdentity* identity,
                     identities->Component(kHome, client->component()));
    hints->Add(client->component(), identity->username());
  }
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
      .log = log,
      .on_warning =
          [log](std::string_view text) {
            log.Info("The API server warns", {{"warning", text}});
          },
      .on_undeclared =
          [log](const absl::Status& status) {
            log.Error("A request is not declared by any marker", {{"reason", status}});
          },
      .on_forbidden = [this, component = mandate.component] { Recheck(component); },
      // A component may have granted or revoked what another one reads.
      .on_rbac_write =
          [this](std::string_view ns) {
            if (cache != nullptr) cache->RecheckAccess("", ns);
          },
  });
}

absl::Status Manager::Parts::BuildComponents(const std::vector<ComponentSpec>& specs) {
  for (size_t i = 0; i < specs.size(); ++i) {
    // One thread for the strand. Those for the reconcilers are added when their number is known.
    workers.push_back(std::make_unique<ThreadPool>(1));
    EventRecorder* events = &no_events;
    const rbac::RuleView& record = rbac::kEventsRule;
    if (rbac::PermitsSomewhere(*specs[i].mandate, record.verbs[0], record.api_groups[0],
                               record.resources[0])) {
      events = recorders[i].get();
    }
    ASSIGN_OR_RETURN(auto component,
                     RunningComponent::Create(
                         specs[i], {.client = *clients[i],
                                    .events = *events,
                                    .cache = *cache,
                                    .workers = *workers.back(),
                                    .metrics = metrics,
                                    .log = options.log,
                                    .seed = random(),
                                    .ns = options.ns,
                                    .watch_namespaces = options.watch_namespaces,
                                    .access_hints = hints.get(),
                                    .webhook_limits = options.webhook_limits,
                                    .tracer = tracer.get(),
                                    .has_token = options.identity_mode == IdentityMode::kToken}));
    workers.back()->AddThreads(component->concurrency());
    components.push_back(std::move(component));
    CallOnLoop(*loop, [this, raw = components.back().get()] { Register(*raw); });
  }
  return absl::OkStatus();
}

std::optional<rbac::Rule> Manager::Parts::NeededByBase() {
  if (options.leader_elect) {
    return rbac::Rule{.verbs = {"get"},
                      .api_groups = {"coordination.k8s.io"},
                      .resources = {"leases"},
                      .resource_names = {options.lease_name}};
  }
  if (options.identity_mode != IdentityMode::kToken || clients.empty()) return std::nullopt;
  return CallOnLoop(*loop, [&]() -> std::optional<rbac::Rule> {
    const auto identity = identities->Component(kHome, clients[0]->component());
    if (!identity.ok()) return std::nullopt;
    return rbac::Rule{.verbs = {"create"},
                      .api_groups = {""},
                      .resources = {"serviceaccounts/token"},
                      .resource_names = {(*identity)->service_account()}};
  });
}

absl::Status Manager::Parts::CheckBase() {
  const bool plugin = std::holds_alternative<ExecPlugin>(options.cluster.base);
  const absl::Duration timeout =
      options.startup_timeout + (plugin ? options.exec_plugin_timeout : absl::ZeroDuration());
  const CallContext context{loop->clock().TimeNow() + timeout, {}};
  RETURN_IF_ERROR(CheckServer(context, *base_client, options.cluster.endpoint));
  options.log.Info("Connected", {{"server", options.cluster.endpoint.server}});
  ASSIGN_OR_RETURN(base_user, AskBaseUser(context, *base_client));
  if (const auto needed = NeededByBase()) {
    RETURN_IF_ERROR(CheckNamespace(context, *base_client, base_user, options.ns, *needed));
  }
  CallOnLoop(*loop, [&] {
    base_user_check = std::make_unique<BaseUserCheck>(
        BaseUserCheck::Options{.base = base_client.get(),
                               .username = base_user,
                               .on_other_user = [this](const absl::Status& why) { Lose(why); }});
  });
  return CheckBasePermissions(ReviewBasePermissions(context, *base_client, options.ns));
}

absl::Status Manager::Parts::CheckBasePermissions(
    const absl::StatusOr<BasePermissions>& permissions) {
  bool was_known = false;
  {
    MutexLock lock(mutex);
    was_known = base_permissions.ok();
    base_permissions = permissions.status();
  }
  if (!permissions.ok() && was_known) {
    options.log.Error("The permissions of the manager's own credential are still unknown",
                      {{"reason", permissions.status()}});
  } else if (permissions.ok() && !was_known) {
    options.log.Info("The permissions of the manager's own credential are known now");
  }
  if (!permissions.ok()) return absl::OkStatus();
  // A cluster that denies nothing has no other mode, and no weaker credential.
  if (options.identity_mode != IdentityMode::kSingle) {
    RETURN_IF_ERROR(RejectUnlimited(*permissions, base_user, options.ns));
  }
  if (!permissions->excess.empty() || permissions->unlimited) {
    options.log.Error(
        "The manager's own credential may do more than it needs",
        {{"user", base_user},
         {"may", permissions->unlimited ? "anything" : absl::StrJoin(permissions->excess, ", ")}});
  }
  return absl::OkStatus();
}

void Manager::Parts::BuildBasePermissionsLoop() {
  if (BasePermissionsWarning().empty()) return;
  const auto permissions = std::make_shared<absl::StatusOr<BasePermissions>>();
  PreflightLoop::Options check;
  check.loop = loop.get();
  check.workers = preflight_threads.get();
  check.component = "base";
  check.check = [this, permissions](const CallContext& context) {
    *permissions = ReviewBasePermissions(context, *base_client, options.ns);
    return permissions->status();
  };
  // Soon at first: an administrator's credential works meanwhile.
  check.retry = {.initial = absl::Seconds(1), .factor = 2, .max = absl::Minutes(5), .jitter = 0.2};
  check.seed = random();
  check.report = [this, permissions](const absl::Status&) {
    const absl::Status checked = CheckBasePermissions(*permissions);
    if (!checked.ok()) Lose(checked);
  };
  base_permissions_loop = std::make_unique<PreflightLoop>(std::move(check));
  base_permissions_loop->Start();
}

std::string Manager::Parts::BasePermissionsWarning() {
  MutexLock lock(mutex);
  if (base_permissions.ok()) return "";
  return StrCat("the permissions of the manager's own credential are still unknown: ",
                AsStd(base_permissions.message()));
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
  elect.lease = {options.ns, options.lease_name};
  elect.identity = instance;
  elect.client = base_client.get();
  elect.metrics = &metrics;
  elect.log = options.log;
  elect.seed = random();
  elect.on_leading = [this] { leading.Set(); };
  elect.on_lost = [this](const absl::Status& why) { Lose(absl::AbortedError(why.message())); };
  ASSIGN_OR_RETURN(elector, LeaderElector::Create(std::move(elect)));
  return absl::OkStatus();
}

void Manager::Parts::BuildPreflights() {
  // One thread for each component, and one for base. A component without a token keeps its thread
  // for a whole check, and no other component waits for that.
  preflight_threads = std::make_unique<ThreadPool>(static_cast<int>(components.size()) + 1);
  for (const auto& component : components) {
    PreflightOptions asked{.mandate = &component->mandate(),
                           .mode = options.identity_mode,
                           .base = base_client.get(),
                           .watch_namespaces = options.watch_namespaces};
    if (const auto identity = identities->Component(kHome, component->name()); identity.ok()) {
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
    preflight.metrics = &metrics;
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
  const auto identity = identities->Component(kHome, component.name());
  if (identity.ok()) component.OnTokenStatus(identities->Status(**identity));
}

void Manager::Parts::OnTokenStatus(const ComponentIdentity& identity, const TokenStatus& status) {
  const auto found = by_name.find(identity.name());
  if (found != by_name.end()) found->second->OnTokenStatus(status);
}

}  // namespace mandate
