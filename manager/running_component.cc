#include "manager/running_component.h"

#include <set>
#include <utility>

#include "manager/core/log_reason.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {

absl::StatusOr<std::unique_ptr<RunningComponent>> RunningComponent::Create(
    const ComponentSpec& spec, const Options& options) {
  const std::string name(spec.mandate->component);
  CacheView& whole = options.cache.AddComponent(options.client, *spec.mandate);
  std::unique_ptr<NamespacedView> view;
  if (!options.watch_namespaces.empty()) {
    view = std::make_unique<NamespacedView>(whole, options.watch_namespaces);
  }
  ControllerContext controller_context{
      name,
      options.client.loop(),
      options.workers,
      view == nullptr ? whole : *view,
      options.metrics,
      options.log,
      options.seed,
      std::make_shared<Strand>(Strand::Options{options.workers, options.client.loop().clock()}),
      options.tracer};
  std::unique_ptr<RunningComponent> running(new RunningComponent(
      std::move(view),
      {*spec.mandate, options.client, options.events, std::move(controller_context), options.ns,
       options.access_hints, spec.cluster},
      options.cache, options.log.With("component", name),
      options.has_token ? absl::UnavailableError("no token yet") : absl::OkStatus()));
  running->ready_ = spec.ready;
  if (spec.make_controllers) {
    ASSIGN_OR_RETURN(running->controllers_, spec.make_controllers(running->component_));
  }
  if (spec.make_runnables) RETURN_IF_ERROR(running->MakeRunnables(spec, options));
  Webhooks webhooks;
  if (spec.make_webhooks) {
    ASSIGN_OR_RETURN(webhooks, spec.make_webhooks(running->component_));
  }
  RETURN_IF_ERROR(CheckServedMatchesDeclared(*spec.mandate, webhooks.hooks));
  if (spec.make_webhooks) {
    running->webhooks_ = std::make_unique<ComponentWebhooks>(
        ComponentWebhooks::Options{.component = name,
                                   .webhooks = std::move(webhooks),
                                   .bounds = options.webhook_limits,
                                   .workers = options.workers,
                                   .loop = options.client.loop(),
                                   .metrics = options.metrics,
                                   .log = running->log_});
  }
  return running;
}

absl::Status RunningComponent::MakeRunnables(const ComponentSpec& spec, const Options& options) {
  ASSIGN_OR_RETURN(Runnables runnables, spec.make_runnables(component_));
  std::set<std::string> names;
  uint64_t seed = options.seed;
  for (Runnable& runnable : runnables) {
    if (!names.insert(runnable.name).second) {
      return absl::InvalidArgumentError(
          StrCat("component ", name(), " has two runnables with the name ", runnable.name));
    }
    ASSIGN_OR_RETURN(auto running, RunningRunnable::Create({.runnable = std::move(runnable),
                                                            .component = std::string(name()),
                                                            .loop = &options.client.loop(),
                                                            .pool = &options.workers,
                                                            .metrics = &options.metrics,
                                                            .log = options.log,
                                                            .seed = ++seed}));
    runnables_.push_back(std::move(running));
  }
  return absl::OkStatus();
}

void RunningComponent::OnTokenStatus(const TokenStatus& status) {
  // Without a token and without an error the first one, or the next, is on its way.
  if (!status.usable && status.last_error.ok()) return;
  const absl::Status now = status.usable ? absl::OkStatus() : status.last_error;
  {
    MutexLock lock(mutex_);
    token_ = now;
  }
  const absl::StatusCode before = std::exchange(told_, now.code());
  if (now.code() == before) return;
  if (!now.ok()) {
    log_.Error("The component has no token that the server accepts", {{"reason", LogReason(now)}});
    cache_.OnCredentialLost(component_.client.component(), now);
  } else {
    log_.Info("The component has a token again");
    cache_.RecheckAccess(component_.client.component());
  }
}

void RunningComponent::OnPreflight(absl::Status result) {
  absl::Status before;
  bool has_token = false;
  {
    MutexLock lock(mutex_);
    has_token = token_.ok();
    before = preflight_.value_or(absl::OkStatus());
    preflight_ = result;
  }
  if (before == result) return;
  if (!result.ok() && !has_token) return;  // the missing token is logged, and it is the reason
  if (result.ok()) {
    log_.Info("Every declared permission is granted");
    // The API server may grant now what it denied before: its watches try again at once.
    cache_.RecheckAccess(component_.client.component());
  } else if (absl::IsFailedPrecondition(result)) {
    log_.Error("Permissions are missing", {{"reason", LogReason(result)}});
  } else {
    log_.Error("The permissions could not be checked", {{"reason", LogReason(result)}});
  }
}

int RunningComponent::concurrency() const {
  int sum = webhooks_ == nullptr ? 0 : webhooks_->threads();
  for (const auto& controller : controllers_) sum += controller->max_concurrent_reconciles();
  return sum + static_cast<int>(runnables_.size());
}

void RunningComponent::StartOnEveryReplica() {
  for (const auto& runnable : runnables_) {
    if (!runnable->needs_leader()) runnable->Start();
  }
  for (const auto& controller : controllers_) {
    if (controller->warms_up()) controller->WarmUp();
  }
}

void RunningComponent::StartControllers() {
  {
    MutexLock lock(mutex_);
    started_ = true;
  }
  for (const auto& controller : controllers_) controller->Start();
  for (const auto& runnable : runnables_) {
    if (runnable->needs_leader()) runnable->Start();
  }
}

void RunningComponent::RequestStop() {
  for (const auto& controller : controllers_) controller->RequestStop();
  for (const auto& runnable : runnables_) runnable->RequestStop();
}

absl::Status RunningComponent::StopControllers(absl::Time deadline) {
  absl::Status result;
  const auto add = [&](const absl::Status& status) {
    // Work that still runs is the most important error: the Lease is not released then.
    if (result.ok() || (absl::IsDeadlineExceeded(status) && !absl::IsDeadlineExceeded(result))) {
      result = status;
    }
  };
  for (const auto& controller : controllers_) add(controller->Stop(deadline));
  for (const auto& runnable : runnables_) add(runnable->Stop(deadline));
  return result;
}

absl::Status RunningComponent::Ready() const {
  bool started = false;
  {
    MutexLock lock(mutex_);
    RETURN_IF_ERROR(token_);
    if (!preflight_) return absl::UnavailableError("its permissions are being checked");
    RETURN_IF_ERROR(*preflight_);
    if (webhooks_ != nullptr) RETURN_IF_ERROR(webhooks_->Ready());
    started = started_;
  }
  for (const auto& controller : controllers_) {
    if (started || controller->warms_up()) RETURN_IF_ERROR(controller->Ready());
  }
  for (const auto& runnable : runnables_) RETURN_IF_ERROR(runnable->Ready());
  return started && ready_ ? ready_() : absl::OkStatus();
}

}  // namespace mandate
