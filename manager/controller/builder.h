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

// What a demand asks for besides a kind: every object in a namespace, or one object. `ns` is empty
// for kinds without namespaces.
struct InNamespace {
  std::string ns;
};
struct OneObject {
  std::string ns;
  std::string name;
};
template <class T>
concept DemandScope = std::same_as<T, InNamespace> || std::same_as<T, OneObject>;

// A builder of one controller. What is named without a scope is watched in the whole cluster. A
// mistake is reported by Complete(). Not thread-safe.
class ControllerBuilder {
 public:
  explicit ControllerBuilder(ControllerRuntime runtime)
      : options_{"", std::move(runtime), {}, nullptr, {}} {}

  // By default the kind of For(), in lower case.
  ControllerBuilder& Named(std::string name);

  // The kind that is reconciled: each event of an object is a request for it. Exactly once.
  template <Object T, class... Predicates>
  requires(!DemandScope<Predicates> && ...) ControllerBuilder& For(Predicates... predicates) {
    return For(Everywhere<T>(), {std::move(predicates)...});
  }
  template <Object T, DemandScope S, class... Predicates>
  ControllerBuilder& For(S scope, Predicates... predicates) {
    return For(Scoped<T>(std::move(scope)), {std::move(predicates)...});
  }
  ControllerBuilder& For(DemandSpec demand, std::vector<Predicate> predicates);

  // A kind whose objects have the reconciled one as their controller. After For().
  template <Object T, class... Predicates>
  requires(!DemandScope<Predicates> && ...) ControllerBuilder& Owns(Predicates... predicates) {
    return Owns(Everywhere<T>(), {std::move(predicates)...});
  }
  template <Object T, DemandScope S, class... Predicates>
  ControllerBuilder& Owns(S scope, Predicates... predicates) {
    return Owns(Scoped<T>(std::move(scope)), {std::move(predicates)...});
  }
  ControllerBuilder& Owns(DemandSpec demand, std::vector<Predicate> predicates);

  // Any other kind. `map` says what to reconcile because of an object (of an update: of the old one
  // and of the new one), or because of an event. It runs on the component's strand: one that takes
  // long delays the component's other events, and no other component. It should not wait.
  template <Object T, class Map, class... Predicates>
  requires(!DemandScope<Map>) ControllerBuilder& Watches(Map map, Predicates... predicates) {
    return Watches(Everywhere<T>(), HandlerOf<T>(std::move(map)), {std::move(predicates)...});
  }
  template <Object T, DemandScope S, class Map, class... Predicates>
  ControllerBuilder& Watches(S scope, Map map, Predicates... predicates) {
    return Watches(Scoped<T>(std::move(scope)), HandlerOf<T>(std::move(map)),
                   {std::move(predicates)...});
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
  template <class T>
  static DemandSpec Everywhere() {
    return {KindOf<T>::value, "", ""};
  }
  template <class T>
  static DemandSpec Scoped(InNamespace scope) {
    return {KindOf<T>::value, std::move(scope.ns), ""};
  }
  template <class T>
  static DemandSpec Scoped(OneObject scope) {
    return {KindOf<T>::value, std::move(scope.ns), std::move(scope.name)};
  }
  template <class T, class Map>
  static EventHandler HandlerOf(Map map) {
    if constexpr (std::is_invocable_r_v<std::vector<Request>, Map&, const T&>) {
      return EnqueueMap<T>(std::move(map));
    } else {
      static_assert(std::is_invocable_r_v<std::vector<Request>, Map&, const ObjectEvent&>,
                    "the map function takes const T& or const ObjectEvent&, and returns "
                    "std::vector<Request>");
      return EnqueueEventMap(std::move(map));
    }
  }
  void Fail(std::string why);

  Controller::Options options_;
  std::optional<KindInfo> for_;
  std::vector<Predicate> filters_;
  std::string error_;  // the first
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_BUILDER_H_
