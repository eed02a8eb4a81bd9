#include "manager/testing_bulkhead.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/clock.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/rbac/events_rule.h"
#include "testing/apiserver/errors.h"

namespace mandate {
namespace {

using apiserver::ServerCore;

constexpr std::string_view kReads[] = {"list", "watch"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
constexpr std::string_view kConfigMaps[] = {"configmaps"};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr std::string_view kServices[] = {"services"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr rbac::MandateRule kNoisyRules[] = {{{kReads, kCore, kConfigMaps, {}, {}}, "", false},
                                             {{kReads, kCore, kSecrets, {}, {}}, "", false},
                                             {rbac::kEventsRule, "", false}};
constexpr rbac::MandateRule kQuietRules[] = {{{kReads, kCoordination, kLeases, {}, {}}, "", false},
                                             {{kReads, kCore, kServices, {}, {}}, "", false},
                                             {rbac::kEventsRule, "", false}};
constexpr rbac::Mandate kNoisy = {"noisy", kNoisyRules};
constexpr rbac::Mandate kQuiet = {"quiet", kQuietRules};

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << "\n";
  std::abort();
}

absl::StatusOr<Controllers> One(absl::StatusOr<std::unique_ptr<Controller>> controller) {
  if (!controller.ok()) return controller.status();
  Controllers controllers;
  controllers.push_back(*std::move(controller));
  return controllers;
}

// Waits until a demand is live.
class SyncedSink : public DemandSink {
 public:
  void OnEvent(const ObjectEvent&) override {}
  void OnState(const DemandStatus& status) override {
    if (status.state == DemandState::kSynced) synced.Set();
  }

  Latch synced;
};

void Nothing(Bulkhead&) {}

void Record(EventRecorder& recorder, const std::string& ns, int i) {
  recorder.Record({"v1", "ConfigMap", ns, StrCat("a", i), StrCat("uid-", i)}, EventType::kNormal,
                  "Tried", "Try", "so it is");
}

// Six places for watches. The noisy component asks for fifty, and takes what is its share.
void FillWatches(Bulkhead& b) {
  for (int i = 0; i < 50; ++i) {
    b.demands.push_back(
        b.noisy_view().Demand({KindOf<corev1::Secret>::value, StrCat("ns-", i), ""}, nullptr));
  }
  size_t watches = 0;
  while (watches < 4) {
    b.server().OnLoop([&](ServerCore& core) { watches = core.stats().watches; });
  }
}

void RefuseEvents(Bulkhead& b) {
  b.server().OnLoop([&b](ServerCore& core) {
    core.store().SubscribeAll([&b, count = 0](const apiserver::Change& change) mutable {
      if (change.resource.resource == "events" && ++count == 2) b.arrived.Set();
    });
    core.faults().Add({.verb = "create",
                       .path_prefix = "/apis/events.k8s.io/v1/namespaces/kube-public/",
                       .fault = {.refuse = apiserver::InternalError("failed calling webhook")}});
  });
}

}  // namespace

Bulkhead::Bulkhead() : manager_({&kNoisy, &kQuiet}) {}

Bulkhead::~Bulkhead() {
  trouble_over.Set();
  demands.clear();
  Check(manager_.Stop());
}

void Bulkhead::Run() {
  manager_.options.leader_elect = false;
  manager_.options.max_watch_bytes = settings_.max_watch_bytes;
  manager_.options.transport = settings_.transport;
  const auto noisy = [this](const Component& component) -> absl::StatusOr<Controllers> {
    noisy_events_ = &component.events;
    noisy_view_ = &component.cache();
    metrics_ = &component.controller_context.metrics;
    UncheckedControllerBuilder builder(component.controller_context);
    builder.Named("noisy").WithOptions({.max_concurrent_reconciles = kAtOnce});
    builder.Watches<corev1::ConfigMap>([this](const ObjectEvent& event) {
      if (settings_.map) settings_.map();
      return std::vector<Request>{{event.object->Key()}};
    });
    return One(builder.Complete(
        std::make_unique<FunctionReconciler>([this](const CallContext&, const Request&) {
          if (settings_.reconcile) settings_.reconcile();
          return Result{};
        })));
  };
  const auto quiet = [this](const Component& component) -> absl::StatusOr<Controllers> {
    quiet_events_ = &component.events;
    quiet_view_ = &component.cache();
    UncheckedControllerBuilder builder(component.controller_context);
    builder.For<coordinationv1::Lease>();
    return One(builder.Complete(
        std::make_unique<FunctionReconciler>([this](const CallContext&, const Request& request) {
          MutexLock lock(mutex_);
          seen_.insert(request.key.name);
          changed_.NotifyAll();
          return Result{};
        })));
  };
  manager_.Run({{&kNoisy, noisy}, {&kQuiet, quiet}});
}

void Bulkhead::Load(const std::string& json) {
  server().OnLoop([&](ServerCore& core) { Check(core.Load(json)); });
}

void Bulkhead::LoadConfigMap(const std::string& name, size_t bytes) {
  Load(StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")",
              name, R"("},"data":{"a":")", std::string(bytes, 'x'), R"("}})"));
}

absl::Duration Bulkhead::Probe() {
  const std::string name = StrCat("probe-", ++probes_);
  const absl::Time start = Clock::Real().TimeNow();
  Load(StrCat(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":)"
              R"("default","name":")",
              name, R"("},"spec":{}})"));
  MutexLock lock(mutex_);
  while (!seen_.contains(name)) changed_.Wait(mutex_);
  return Clock::Real().TimeNow() - start;
}

size_t Bulkhead::reconciled() {
  MutexLock lock(mutex_);
  return seen_.size();
}

double Bulkhead::Overflows() const {
  double sum = 0;
  for (const auto& family : metrics_->registry().Collect()) {
    if (family.name != "mandate_cache_overflows_total") continue;
    for (const auto& metric : family.metric) sum += metric.counter.value;
  }
  return sum;
}

const std::vector<Trouble>& Troubles() {
  static const auto& troubles = *new std::vector<Trouble>{
      {"MapSleeps",
       [](Bulkhead& b) {
         b.settings().map = [&b] {
           b.began.Set();
           b.trouble_over.Wait();
         };
       },
       [](Bulkhead& b) {
         b.LoadConfigMap("a");
         b.began.Wait();
         for (int i = 0; i < 100; ++i) b.LoadConfigMap(StrCat("behind-", i));
       },
       Nothing},
      {"ReconcilersHang",
       [](Bulkhead& b) {
         b.settings().reconcile = [&b] {
           if (++b.inside == Bulkhead::kAtOnce) b.began.Set();
           b.trouble_over.Wait();
         };
       },
       [](Bulkhead& b) {
         for (int i = 0; i < 4 * Bulkhead::kAtOnce; ++i) b.LoadConfigMap(StrCat("a", i));
         b.began.Wait();
       },
       Nothing},
      {"KindIsHuge", [](Bulkhead& b) { b.settings().max_watch_bytes = size_t{8} << 20; },
       [](Bulkhead& b) {
         for (int i = 0; i < 16; ++i) b.LoadConfigMap(StrCat("huge-", i), 900'000);
         // The watch has met its bound, and is opened again and again.
         while (b.Overflows() == 0) b.Probe();
       },
       Nothing},
      {"WatchesFillTheirBudget",
       [](Bulkhead& b) {
         b.settings().transport.streams_per_connection = 4;
         b.settings().transport.max_stream_connections = 2;
       },
       FillWatches,
       [](Bulkhead& b) {
         const auto sink = std::make_shared<SyncedSink>();
         const auto demand =
             b.quiet_view().Demand({KindOf<corev1::Service>::value, "kube-system", ""}, sink);
         sink->synced.Wait();
       }},
      {"WebhookRefusesEvents", RefuseEvents,
       [](Bulkhead& b) {
         for (int i = 0; i < 500; ++i) Record(b.noisy_events(), "kube-public", i);
       },
       // An event of the quiet component's arrives, and so does another one of the noisy one.
       [](Bulkhead& b) {
         Record(b.quiet_events(), "default", 1);
         Record(b.noisy_events(), "default", 2);
         b.arrived.Wait();
       }},
  };
  return troubles;
}

}  // namespace mandate
