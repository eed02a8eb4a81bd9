// A view that reads some namespaces instead of the whole cluster (controller-runtime's
// cache.DefaultNamespaces).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manager/cache/cache_view.h"

namespace mandate {

// OK if these can be the namespaces of a NamespacedView: DNS labels, each once. kInvalidArgument
// names the first that cannot.
absl::Status CheckWatchedNamespaces(const std::vector<std::string>& namespaces);

// The view of a component, restricted to namespaces. A demand of a namespaced kind in the whole
// cluster becomes a demand for each of the namespaces, which the component's mandate must cover as
// any other. A demand that names its namespace stays as it is, and so does one of a kind without
// namespaces.
//
// A list of all namespaces is that of these namespaces, each as of its own time; it is an error if
// one of them cannot be read. A read by key works as before: in another namespace it is
// kFailedPrecondition, unless a demand names that namespace.
//
// The sink of a demand that became several gets the events of each. Its state is that of the
// namespace that is worst off, in the order Forbidden, KindAbsent, Pending, Stale, Synced.
// Thread-safe.
class NamespacedView : public CacheView {
 public:
  // `namespaces` is not empty, and CheckWatchedNamespaces() accepts it. `inner` outlives this.
  NamespacedView(CacheView& inner, std::vector<std::string> namespaces);

  std::vector<DemandSpec> Split(const DemandSpec& spec) const override;
  std::unique_ptr<DemandHandle> Demand(DemandSpec spec, std::shared_ptr<DemandSink> sink) override;

  absl::StatusOr<std::shared_ptr<const RawObject>> GetRaw(const CallContext& context,
                                                          const KindInfo& kind,
                                                          const ObjectKey& key) const override;
  absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRaw(
      const CallContext& context, const KindInfo& kind, std::string_view ns) const override;
  absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRawSelected(
      const CallContext& context, const KindInfo& kind, std::string_view ns,
      const LabelSelector& selector) const override;
  std::vector<std::shared_ptr<const RawObject>> ListLastKnown(const KindInfo& kind,
                                                              std::string_view ns) const override;
  std::shared_ptr<const RawObject> GetLastKnown(const KindInfo& kind,
                                                const ObjectKey& key) const override;
  using CacheView::IndexField;
  absl::Status IndexField(const KindInfo& kind, std::string_view field, IndexFunc extract) override;
  absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRawByIndex(
      const CallContext& context, const KindInfo& kind, const IndexQuery& query) const override;
  absl::Status CheckListSize(const KindInfo& kind, size_t objects, size_t bytes) const override;
  std::vector<std::shared_ptr<const RawObject>> ListLastKnownByIndex(
      const KindInfo& kind, const IndexQuery& query) const override;

 private:
  class Handle;

  // Calls `read` for each namespace, or only for `ns` if it is not empty or the kind has none.
  template <class Read>
  auto ForEach(const KindInfo& kind, std::string_view ns, Read read) const;
  // Adds to an error that no demand covers the namespace why that may be.
  absl::Status Explain(absl::Status status, const KindInfo& kind, std::string_view ns) const;

  CacheView& inner_;
  const std::vector<std::string> namespaces_;  // sorted
};

}  // namespace mandate
