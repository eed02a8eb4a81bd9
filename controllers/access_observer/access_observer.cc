#include "controllers/access_observer/access_observer.h"

#include <string>
#include <string_view>
#include <utility>

#include "controllers/access_observer/held_roles.h"
#include "manager/cache/index.h"
#include "manager/controller/controller_builder.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/rbac/policy_proto.h"

namespace mandate::access {
namespace {

constexpr absl::Duration kDelay = absl::Milliseconds(100);
constexpr absl::Duration kRepeat = absl::Seconds(1);
constexpr std::string_view kRoleRef = "roleRef";

using rbacv1::ClusterRoleBinding, rbacv1::RoleBinding;

template <class Binding>
std::vector<std::string> RoleRefs(const Binding& binding) {
  return {StrCat(binding.roleref().kind(), "/", HeldName(binding.roleref().name()))};
}

// The requests of events. It lives as long as the controller, whose maps hold it.
class Maps {
 public:
  Maps(const Component& component, AccessObserver& observer)
      : cache_(component.cache()), hints_(*component.access_hints), observer_(observer) {}

  // The subjects are not held: it may concern every component.
  std::vector<Request> OfBinding(const ObjectEvent& event) const {
    if (event.initial) return Listed();
    return Noted({InNamespaceOf(*event.object)});
  }

  std::vector<Request> OfClusterBinding(const ObjectEvent& event) const {
    if (event.initial) return Listed();
    std::vector<Request> requests;
    for (const auto& object : {event.object, event.old}) {
      if (object != nullptr) AddSubjects(*object, requests);
    }
    return Noted(std::move(requests));
  }

  // The bindings to the role tell whom it concerns.
  std::vector<Request> OfRole(const ObjectEvent& event, std::string_view kind) const {
    if (event.initial) return Listed();
    std::vector<Request> requests;
    const std::string role = StrCat(kind, "/", event.object->name());
    const IndexQuery query = {.field = kRoleRef, .value = role, .ns = event.object->ns()};
    for (const auto& binding : cache_.ListLastKnownByIndex(KindOf<BoundRole>::value, query)) {
      requests.push_back(InNamespaceOf(*binding));
    }
    if (!event.object->ns().empty()) return Noted(std::move(requests));
    for (const auto& binding :
         cache_.ListLastKnownByIndex(KindOf<ClusterRoleBinding>::value, query)) {
      AddSubjects(*binding, requests);
    }
    return Noted(std::move(requests));
  }

 private:
  static Request InNamespaceOf(const RawObject& object) { return {{std::string(object.ns()), ""}}; }

  void AddSubjects(const RawObject& object, std::vector<Request>& requests) const {
    // One that cannot be decoded concerns nobody that is known; the authorizer reads it as we do.
    const auto binding = object.Decode<ClusterRoleBinding>();
    if (!binding.ok()) return;
    for (std::string& component : hints_.ComponentsOf(rbac::FromProto(*binding).subjects, "")) {
      requests.push_back({{"", std::move(component)}});
    }
  }

  std::vector<Request> Listed() const {
    observer_.NoteList();
    return {Request()};
  }

  std::vector<Request> Noted(std::vector<Request> requests) const {
    for (const Request& request : requests) observer_.Note(request);
    return requests;
  }

  const CacheView& cache_;
  const AccessHints& hints_;
  AccessObserver& observer_;
};

}  // namespace

AccessObserver::AccessObserver(const Component& component)
    : hints_(*component.access_hints), clock_(component.clock()), check_(component) {}

void AccessObserver::Note(const Request& request) {
  MutexLock lock(mutex_);
  Change& change = changes_.try_emplace(request).first->second;
  // A hint that has been given may have come too early for this change.
  if (change.stage == Stage::kHinted) change.stage = Stage::kNoted;
}

void AccessObserver::NoteList() {
  MutexLock lock(mutex_);
  listed_ = clock_.TimeNow();
}

absl::StatusOr<Result> AccessObserver::RemindAll() {
  absl::Time listed;
  {
    MutexLock lock(mutex_);
    if (listed_ == absl::InfinitePast()) return Result{.requeue_after = check_.Run()};
    const absl::Duration wait = listed_ + kRepeat - clock_.TimeNow();
    if (wait > absl::ZeroDuration()) return Result{.requeue_after = wait};
    listed = std::exchange(listed_, absl::InfinitePast());
  }
  // As late as the first hint of a change would come.
  hints_.RecheckAll(listed + kDelay);
  return Result{.requeue_after = check_.Run()};
}

absl::StatusOr<Result> AccessObserver::Reconcile(const CallContext&, const Request& request) {
  if (request == Request()) return RemindAll();
  Result then;
  {
    MutexLock lock(mutex_);
    const auto it = changes_.find(request);
    if (it == changes_.end()) return Result{};
    Change& change = it->second;
    if (change.stage == Stage::kHinted) {
      changes_.erase(it);
    } else {
      const absl::Time now = clock_.TimeNow();
      if (change.stage == Stage::kNoted) change = {Stage::kWaiting, now + kDelay};
      // Another event replaces the delayed request by an immediate one.
      if (now < change.due) return Result{.requeue_after = change.due - now};
      change.stage = Stage::kHinted;
      then.requeue_after = kRepeat;
    }
  }
  hints_.RecheckAccess(request.key.name, request.key.ns);
  return then;
}

absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component) {
  if (component.access_hints == nullptr) {
    return absl::FailedPreconditionError(
        "access-observer needs Component::access_hints, which is null");
  }
  CacheView& cache = component.cache();
  RETURN_IF_ERROR(cache.IndexField(KindOf<BoundRole>::value, kRoleRef,
                                   IndexBy<RoleBinding>(RoleRefs<RoleBinding>)));
  RETURN_IF_ERROR(cache.IndexField<ClusterRoleBinding>(kRoleRef, RoleRefs<ClusterRoleBinding>));
  auto observer = std::make_unique<AccessObserver>(component);
  const auto maps = std::make_shared<const Maps>(component, *observer);
  return ControllerBuilder<kAccessObserver>(component.controller_context)
      .Named("access-observer")
      .WithOptions({.forbidden_sources_are_ready = true})
      .Watches<BoundRole>([maps](const ObjectEvent& event) { return maps->OfBinding(event); })
      .Watches<ClusterRoleBinding>(
          [maps](const ObjectEvent& event) { return maps->OfClusterBinding(event); })
      .Watches<RolePlace>([maps](const ObjectEvent& event) { return maps->OfRole(event, "Role"); })
      .Watches<ClusterRolePlace>(
          [maps](const ObjectEvent& event) { return maps->OfRole(event, "ClusterRole"); })
      .Complete(std::move(observer));
}

}  // namespace mandate::access
