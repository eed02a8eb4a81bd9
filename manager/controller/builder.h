// A controller in a few lines:
//
//   auto controller = ControllerBuilder(runtime)
//                         .Named("scope-instance")
//                         .For<ScopeInstance>(GenerationChanged())
//                         .Owns<RoleBinding>()
//                         .Watches<Namespace>([](const Namespace& ns) { return Requests…; })
//                         .Complete(std::make_unique<ScopeInstanceReconciler>(…));
#ifndef MANAGER_CONTROLLER_BUILDER_H_
#define MANAGER_CONTROLLER_BUILDER_H_

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/controller/controller.h"
#include "manager/controller/handlers.h"
#include "manager/controller/predicates.h"
#include "manager/controller/reconciler.h"

namespace mandate {

// Everything is watched cluster-wide. A mistake is reported by Complete(). Not thread-safe.
class ControllerBuilder {
 public:
  explicit ControllerBuilder(ControllerRuntime runtime)
      : options_{"", std::move(runtime), {}, nullptr, {}} {}

  // By default the kind of For(), in lower case.
  ControllerBuilder& Named(std::string name);

  // The kind that is reconciled: each event of an object is a request for it. Exactly once.
  template <Object T, class... Predicates>
  ControllerBuilder& For(Predicates... predicates) {
    return For(KindOf<T>::value, {std::move(predicates)...});
  }
  ControllerBuilder& For(const KindInfo& kind, std::vector<Predicate> predicates);

  // A kind whose objects have the reconciled one as their controller. After For().
  template <Object T, class... Predicates>
  ControllerBuilder& Owns(Predicates... predicates) {
    return Owns(KindOf<T>::value, {std::move(predicates)...});
  }
  ControllerBuilder& Owns(const KindInfo& kind, std::vector<Predicate> predicates);

  // Any other kind. `map` says what to reconcile because of an object (of an update: of the old one
  // and of the new one), or because of an event; it runs on the loop and must return at once.
  template <Object T, class Map, class... Predicates>
  ControllerBuilder& Watches(Map map, Predicates... predicates) {
    if constexpr (std::is_invocable_r_v<std::vector<Request>, Map&, const T&>) {
      return Watches({KindOf<T>::value, "", ""}, EnqueueMap<T>(std::move(map)),
                     {std::move(predicates)...});
    } else {
      static_assert(std::is_invocable_r_v<std::vector<Request>, Map&, const ObjectEvent&>,
                    "the map function takes const T& or const ObjectEvent&, and returns "
                    "std::vector<Request>");
      return Watches({KindOf<T>::value, "", ""}, EnqueueEventMap(std::move(map)),
                     {std::move(predicates)...});
    }
  }
  // The same with a scope and a handler of one's own.
  ControllerBuilder& Watches(DemandSpec demand, EventHandler handler,
                             std::vector<Predicate> predicates = {});

  // For the events of every kind, also of those that were named before.
  ControllerBuilder& WithEventFilter(Predicate predicate);
  ControllerBuilder& With(ControllerOptions options);

  // kInvalidArgument says what is wrong. The builder is spent.
  absl::StatusOr<std::unique_ptr<Controller>> Complete(std::unique_ptr<Reconciler> reconciler);

 private:
  void Fail(std::string why);

  Controller::Options options_;
  std::optional<KindInfo> for_;
  std::vector<Predicate> filters_;
  std::string error_;  // the first
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_BUILDER_H_
