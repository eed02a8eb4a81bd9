// A controller in a few lines:
//
//   auto controller = UncheckedControllerBuilder(controller_context)
//                         .Named("scope-instance")
//                         .For<ScopeInstance>(GenerationChanged())
//                         .Owns<RoleBinding>()
//                         .Watches<Namespace>([](const Namespace& ns) { return Requests…; })
//                         .Complete(std::make_unique<ScopeInstanceReconciler>(…));
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/controller/controller.h"
#include "manager/controller/demand_scope.h"
#include "manager/controller/demand_set.h"
#include "manager/controller/handlers.h"
#include "manager/controller/predicates.h"
#include "manager/controller/reconciler.h"

namespace mandate {

// The part of a builder that does not depend on types. Not thread-safe.
class UntypedBuilder {
 protected:
  explicit UntypedBuilder(ControllerContext controller_context)
      : options_{"", std::move(controller_context), {}, nullptr, {}, nullptr, nullptr} {}

  void AddFor(DemandSpec demand, std::vector<Predicate> predicates);
  void AddOwned(DemandSpec demand, std::vector<Predicate> predicates);
  // Adds a source for each demand that `demand` becomes (CacheView::Split()).
  void AddSource(const DemandSpec& demand, EventHandler handler, std::vector<Predicate> predicates,
                 bool is_primary = false);
  absl::StatusOr<std::unique_ptr<Controller>> Build(std::unique_ptr<Reconciler> reconciler);

  template <class T, class Map>
  static EventHandler HandlerOf(Map map) {
    if constexpr (std::is_invocable_r_v<std::vector<Request>, Map&, const T&>) {
      return EnqueueMapped<T>(std::move(map));
    } else {
      static_assert(std::is_invocable_r_v<std::vector<Request>, Map&, const ObjectEvent&>,
                    "the map function takes const T& or const ObjectEvent&, and returns "
                    "std::vector<Request>");
      return EnqueueMappedEvent(std::move(map));
    }
  }

  Controller::Options options_;
  std::vector<Predicate> filters_;

 private:
  void Fail(std::string why);

  std::optional<KindInfo> for_;
  std::string error_;  // the first
};

// The checks of a builder without a mandate: it may watch every kind everywhere.
struct NoDemandCheck {
  template <class T, class Builder>
  using Watched = Builder&;
  template <class T, class Builder>
  using WatchedEverywhere = Builder&;
  template <class T>
  static void RecordWatch() {}
  template <class T>
  static void RecordWatchEverywhere() {}
};

// A builder of one controller. A kind without a scope is watched in the whole cluster. A mistake is
// reported by Complete(). `Checks` checks at compile time which kinds may be watched, and where: it
// is NoDemandCheck, or that of a mandate (controller_builder.h). Not thread-safe.
template <class Checks>
class BasicBuilder : private UntypedBuilder {
  template <class T>
  using Watched = typename Checks::template Watched<T, BasicBuilder>;
  template <class T>
  using WatchedEverywhere = typename Checks::template WatchedEverywhere<T, BasicBuilder>;

 public:
  explicit BasicBuilder(ControllerContext controller_context)
      : UntypedBuilder(std::move(controller_context)) {}

  // By default the kind of For(), in lower case.
  BasicBuilder& Named(std::string name) {
    options_.name = std::move(name);
    return *this;
  }

  // The kind that is reconciled: each event of an object is a request for it. Exactly once.
  template <Readable T, class... Predicates>
  requires(!DemandScope<Predicates> && ...) WatchedEverywhere<T> For(Predicates... predicates) {
    Checks::template RecordWatchEverywhere<T>();
    AddFor(DemandOf<T>(), {std::move(predicates)...});
    return *this;
  }
  template <Readable T, DemandScope S, class... Predicates>
  Watched<T> For(S scope, Predicates... predicates) {
    Checks::template RecordWatch<T>();
    AddFor(DemandOf<T>(std::move(scope)), {std::move(predicates)...});
    return *this;
  }

  // A kind whose objects have the reconciled one as their controller. After For().
  template <Readable T, class... Predicates>
  requires(!DemandScope<Predicates> && ...) WatchedEverywhere<T> Owns(Predicates... predicates) {
    Checks::template RecordWatchEverywhere<T>();
    AddOwned(DemandOf<T>(), {std::move(predicates)...});
    return *this;
  }
  template <Readable T, DemandScope S, class... Predicates>
  Watched<T> Owns(S scope, Predicates... predicates) {
    Checks::template RecordWatch<T>();
    AddOwned(DemandOf<T>(std::move(scope)), {std::move(predicates)...});
    return *this;
  }

  // Any other kind. `map` returns the requests for an object (of an update: of the old one and of
  // the new one), or for an event. It runs on the component's strand: a map that takes long delays
  // the component's other events, and no other component. It must not wait.
  template <Watchable T, class Map, class... Predicates>
  requires(!DemandScope<Map>) WatchedEverywhere<T> Watches(Map map, Predicates... predicates) {
    Checks::template RecordWatchEverywhere<T>();
    AddSource(DemandOf<T>(), HandlerOf<T>(std::move(map)), {std::move(predicates)...});
    return *this;
  }
  template <Watchable T, DemandScope S, class Map, class... Predicates>
  Watched<T> Watches(S scope, Map map, Predicates... predicates) {
    Checks::template RecordWatch<T>();
    AddSource(DemandOf<T>(std::move(scope)), HandlerOf<T>(std::move(map)),
              {std::move(predicates)...});
    return *this;
  }

  // A kind that is known only at run time. Without a mandate only.
  BasicBuilder& For(DemandSpec demand, std::vector<Predicate> predicates) requires
      std::same_as<Checks, NoDemandCheck> {
    AddFor(std::move(demand), std::move(predicates));
    return *this;
  }

  // Applies to the events of every kind, also of those that were named before.
  BasicBuilder& WithEventFilter(Predicate predicate) {
    filters_.push_back(std::move(predicate));
    return *this;
  }
  BasicBuilder& WithOptions(ControllerOptions options) {
    options_.controller = options;
    return *this;
  }

  // The demands that the reconciler makes while it runs: their events are requests of this
  // controller. At most once.
  BasicBuilder& WithDemands(std::shared_ptr<DemandSet> demands) {
    options_.demands = std::move(demands);
    return *this;
  }

  // Requests that no watch causes. The channel is of this controller alone. At most once.
  BasicBuilder& WithChannel(std::shared_ptr<RequestChannel> channel) {
    options_.channel = std::move(channel);
    return *this;
  }

  // kInvalidArgument names the mistake. The builder cannot be used again.
  absl::StatusOr<std::unique_ptr<Controller>> Complete(std::unique_ptr<Reconciler> reconciler) {
    return Build(std::move(reconciler));
  }
};

// For tests and tools that have no mandate: nothing checks which kinds it watches.
using UncheckedControllerBuilder = BasicBuilder<NoDemandCheck>;

}  // namespace mandate
