// A CacheView whose content and states the test sets.
//
//   FakeCacheView view(loop);
//   view.Put(namespace_foo);                         // content; sinks hear of it at once
//   view.SetState(KindOf<Namespace>::value, DemandState::kForbidden, absl::PermissionDenied…);
#ifndef MANAGER_CACHE_TESTING_FAKE_CACHE_VIEW_H_
#define MANAGER_CACHE_TESTING_FAKE_CACHE_VIEW_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manager/cache/cache_view.h"
#include "manager/core/executor.h"
#include "manager/object/object_codec.h"

namespace mandate {

// Demands are synced unless SetState() says otherwise. Demand() and the reads are thread-safe.
// Functions that change the content or the states are for the loop's thread, on which a test with a
// SimulatedLoop always is.
class FakeCacheView : public CacheView {
 public:
  explicit FakeCacheView(Loop& loop);  // outlives this and its handles

  // Adds or replaces the object of that key, and tells every synced demand that covers it.
  void Put(const KindInfo& kind, std::shared_ptr<const RawObject> object);
  // The same; sets resourceVersion, and uid where it is empty. Returns what was stored.
  template <Object T>
  T Put(T object) {
    const std::string version = NextVersion();
    object.mutable_metadata()->set_resourceversion(version);
    if (object.metadata().uid().empty()) object.mutable_metadata()->set_uid("uid-" + version);
    Put(KindOf<T>::value, Encoded(KindOf<T>::value, object));
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
  // Afterwards reads need no demand.
  void AllowReadsWithoutDemand() { reads_need_demand_ = false; }

  // `hook` runs at the beginning of each pause of a demand.
  void OnPause(std::function<void()> hook);

  // The demands that are held, in the order in which they were made.
  std::vector<DemandSpec> demands() const;

  std::unique_ptr<DemandHandle> Demand(DemandSpec spec, std::shared_ptr<DemandSink> sink) override;
  // Reads never wait: Put() and Remove() take effect at once.
  absl::StatusOr<std::shared_ptr<const RawObject>> GetRaw(const CallContext& context,
                                                          const KindInfo& kind,
                                                          const ObjectKey& key) const override;
  absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRaw(
      const CallContext& context, const KindInfo& kind, std::string_view ns) const override;
  std::vector<std::shared_ptr<const RawObject>> ListLastKnown(const KindInfo& kind,
                                                              std::string_view ns) const override;

  std::shared_ptr<const RawObject> GetLastKnown(const KindInfo& kind,
                                                const ObjectKey& key) const override;

  // An index is a scan here, which gives the same answers.
  using CacheView::IndexField;
  absl::Status IndexField(const KindInfo& kind, std::string_view field,
                          IndexExtract extract) override;
  absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRawBy(
      const CallContext& context, const KindInfo& kind, const IndexQuery& query) const override;
  std::vector<std::shared_ptr<const RawObject>> ListLastKnownBy(
      const KindInfo& kind, const IndexQuery& query) const override;

 private:
  class Handle;
  struct Shared;

  static std::shared_ptr<const RawObject> Encoded(const KindInfo& kind,
                                                  const google::protobuf::Message& object);
  std::string NextVersion();
  // The error of a read; OK if a demand answers it.
  absl::Status Check(const CallContext& context, std::string_view call,
                     const DemandSpec& asked) const;

  Loop& loop_;
  bool reads_need_demand_ = true;
  std::shared_ptr<Shared> shared_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_TESTING_FAKE_CACHE_VIEW_H_
