// A controller's builder that knows whose the controller is:
//
//   auto controller = BuilderFor<kScopeInstance>(component.runtime)
//                         .For<ScopeInstance>()
//                         .Owns<RoleBinding>()
//                         .Complete(std::make_unique<ScopeInstanceReconciler>(…));
//
// What the mandate does not let it list and watch does not compile (client/permission.h), and what
// it does leaves its notes in the binary (client/call_note.h).
#ifndef MANAGER_CONTROLLER_BUILDER_FOR_H_
#define MANAGER_CONTROLLER_BUILDER_FOR_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "manager/client/call_record.h"
#include "manager/client/permission.h"
#include "manager/controller/builder.h"
#include "manager/rbac/mandate.h"

namespace mandate {

// As ControllerBuilder, which makes the controller; demands whose kind or scope is known only when
// it runs are for that one. Not thread-safe.
template <const rbac::Mandate& kMandate>
class BuilderFor {
  template <class T>
  using Watched =
      IfDeclared<kMandate, T, "list", "", IfDeclared<kMandate, T, "watch", "", BuilderFor&>>;

 public:
  explicit BuilderFor(ControllerRuntime runtime) : builder_(std::move(runtime)) {}

  BuilderFor& Named(std::string name) {
    builder_.Named(std::move(name));
    return *this;
  }
  template <Object T, class... Predicates>
  Watched<T> For(Predicates... predicates) {
    RecordWatch<T>();
    builder_.For<T>(std::move(predicates)...);
    return *this;
  }
  template <Object T, class... Predicates>
  Watched<T> Owns(Predicates... predicates) {
    RecordWatch<T>();
    builder_.Owns<T>(std::move(predicates)...);
    return *this;
  }
  template <Object T, class Map, class... Predicates>
  Watched<T> Watches(Map map, Predicates... predicates) {
    RecordWatch<T>();
    builder_.Watches<T>(std::move(map), std::move(predicates)...);
    return *this;
  }
  BuilderFor& WithEventFilter(Predicate predicate) {
    builder_.WithEventFilter(std::move(predicate));
    return *this;
  }
  BuilderFor& With(ControllerOptions options) {
    builder_.With(std::move(options));
    return *this;
  }
  absl::StatusOr<std::unique_ptr<Controller>> Complete(std::unique_ptr<Reconciler> reconciler) {
    return builder_.Complete(std::move(reconciler));
  }

 private:
  template <class T>
  [[gnu::always_inline]] static inline void RecordWatch() {
    RecordCall<kMandate, T, "list">();
    RecordCall<kMandate, T, "watch">();
  }

  ControllerBuilder builder_;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_BUILDER_FOR_H_
