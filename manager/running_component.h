// A component that runs: its client, its cache view, its controllers, and its problems.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/admission/component_webhooks.h"
#include "manager/cache/cache.h"
#include "manager/cache/namespaced_view.h"
#include "manager/client/rest_client.h"
#include "manager/component.h"
#include "manager/core/mutex.h"
#include "manager/identity/caching_token_source.h"

namespace mandate {

// Thread-safe where the comment says "any thread"; otherwise for the manager's own thread.
class RunningComponent {
 public:
  struct Options {
    RestClient& client;
    EventRecorder& events;
    Cache& cache;
    // The pool of this component alone, so that a hung task delays no other component. It needs
    // concurrency() threads for reconcilers and webhooks, and one for the strand.
    Executor& workers;
    Metrics& metrics;  // all outlive this
    Logger log;
    uint64_t seed = 0;
    std::string_view ns = {};  // the manager's namespace; outlives this
    // What it reads of namespaced kinds (cache/namespaced_view.h); empty: every namespace.
    std::vector<std::string> watch_namespaces = {};
    AccessHints* access_hints = nullptr;
    WebhookLimits webhook_limits = {};
    Tracer* tracer = nullptr;  // outlives this; null: nothing is traced
    // Whether it needs a token before it is ready.
    bool has_token = true;
  };

  // Makes the controllers, the webhooks and the runnables, starts nothing.
  static absl::StatusOr<std::unique_ptr<RunningComponent>> Create(const ComponentSpec& spec,
                                                                  const Options& options);

  std::string_view name() const { return component_.name(); }
  RestClient& client() const { return component_.client; }
  const rbac::Mandate& mandate() const { return component_.mandate; }
  const std::string& cluster() const { return component_.cluster; }
  // How many of its reconcilers, its webhooks' handlers and its runnables may run at once.
  int concurrency() const;
  const Controllers& controllers() const { return controllers_; }
  // Null if the component has no webhooks.
  ComponentWebhooks* webhooks() const { return webhooks_.get(); }

  // The state of its token changed: without one the server accepts, its view of the cache ends, and
  // with one it is asked for again. On the loop.
  void OnTokenStatus(const TokenStatus& status);
  // `result`: OK, or which permissions the preflight found missing. When no permission is missing
  // any more, denied watches try again at once. Any thread.
  void OnPreflight(absl::Status result);

  // What happens on every replica: runnables that need no leader start, and the controllers that
  // ask for it open their watches (ControllerOptions::warm_up).
  void StartOnEveryReplica();
  // The controllers, and the runnables that need a leader.
  void StartControllers();
  // Takes no more work; does not wait. All that was started.
  void RequestStop();
  // kDeadlineExceeded if something still runs, otherwise the first error. An error does not prevent
  // the stop of the other controllers.
  absl::Status StopControllers(absl::Time deadline);

  // OK, or what is wrong and what to do about it: no token, missing grants, sources that cannot be
  // watched, a runnable that fails, or ComponentSpec::ready. Controllers that were not started (on
  // a standby) are ready, but those that warm up are so when their sources are synced; webhooks are
  // ready when their demands are synced. Any thread.
  absl::Status Ready() const;

 private:
  absl::Status MakeRunnables(const ComponentSpec& spec, const Options& options);

  RunningComponent(std::unique_ptr<NamespacedView> view, Component component, Cache& cache,
                   Logger log, absl::Status token)
      : view_(std::move(view)),
        component_(std::move(component)),
        cache_(cache),
        log_(std::move(log)),
        token_(std::move(token)) {}

  std::unique_ptr<NamespacedView> view_;  // the component's, if it is restricted to namespaces
  const Component component_;
  Cache& cache_;
  const Logger log_;
  Controllers controllers_;
  std::vector<std::unique_ptr<RunningRunnable>> runnables_;
  std::function<absl::Status()> ready_;  // ComponentSpec::ready
  std::unique_ptr<ComponentWebhooks> webhooks_;
  absl::StatusCode told_ = absl::StatusCode::kOk;  // of the token, in the log; loop thread only

  mutable Mutex mutex_;
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status token_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> preflight_ ABSL_GUARDED_BY(mutex_);  // the last; none yet
};

}  // namespace mandate
