// A CacheView whose content and states the test sets. All else is the real view's code.
//
//   FakeCacheView view(loop);
//   view.Put(namespace_foo);                         // content; sinks hear of it at once
//   view.SetState(KindOf<Namespace>::value, DemandState::kForbidden, absl::PermissionDenied…);
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "manager/cache/component_view.h"

namespace mandate {

// Demands are synced unless SetState() says otherwise. Demand() and the reads are thread-safe.
// Functions that change the content or the states are for the loop's thread, on which a test with a
// SimulatedLoop always is.
class FakeCacheView : public ComponentView {
 public:
  explicit FakeCacheView(Loop& loop);  // outlives this and its handles
  ~FakeCacheView() override;

  // Adds or replaces the object of that key, and notifies every synced demand that covers it.
  void Put(const KindInfo& kind, ObjectPtr object);
  // The same; sets resourceVersion, and uid where it is empty: that of the object of this name, if
  // it is there. Returns what was stored.
  template <Object T>
  T Put(T object) {
    const std::string version = NextVersion();
    object.mutable_metadata()->set_resourceversion(version);
    if (object.metadata().uid().empty()) {
      const std::string uid = UidOf(KindOf<T>::value, KeyOf(object));
      object.mutable_metadata()->set_uid(uid.empty() ? "uid-" + version : uid);
    }
    PutEncoded(KindOf<T>::value, object);
    return object;
  }
  void Remove(const KindInfo& kind, const ObjectKey& key);

  // Sets the status of all demands of the kind, also of later ones. A demand that becomes synced
  // again first gets the changes that it missed, and then kSynced.
  void SetStatus(const KindInfo& kind, DemandStatus status);
  // The same; a reason is that of a failure.
  void SetState(const KindInfo& kind, DemandState state, absl::Status reason = absl::OkStatus());
  // Sets the state of the demands for exactly this.
  void SetState(const DemandSpec& spec, DemandState state, absl::Status reason = absl::OkStatus());

  // `hook` runs within the next Demand(), before it returns; at the beginning of each pause.
  void OnDemand(std::function<void()> hook);
  void OnPause(std::function<void()> hook);

  // The demands that are held, in the order in which they were made.
  std::vector<DemandSpec> demands() const;
  // DemandSink::Flows() of the last demand for exactly this.
  std::set<std::string> FlowsOf(const DemandSpec& spec) const;
  // The flows that demands got later, one for each call of DemandHandle::AddFlow().
  std::vector<std::string> added_flows() const;

 private:
  class Registry;

  explicit FakeCacheView(std::shared_ptr<Registry> registry);
  // Empty: there is no such object.
  std::string UidOf(const KindInfo& kind, const ObjectKey& key) const;
  void PutEncoded(const KindInfo& kind, const google::protobuf::Message& object);
  std::string NextVersion();

  const std::shared_ptr<Registry> registry_;
};

}  // namespace mandate
