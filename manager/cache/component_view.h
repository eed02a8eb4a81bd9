// The CacheView of one component.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manager/cache/cache_view.h"
#include "manager/cache/demand_feed.h"
#include "manager/cache/own_write_gate.h"
#include "manager/cache/readable_scopes.h"
#include "manager/cache/watch_member.h"
#include "manager/rbac/mandate.h"

namespace mandate {

// The watches of one cluster, as the views use them. Calls take effect later, on the loop.
// Thread-safe.
class WatchRegistry {
 public:
  virtual ~WatchRegistry() = default;
  virtual void Join(WatchComponent& component, std::shared_ptr<ReadableScope> scope,
                    std::shared_ptr<DemandFeed> feed) = 0;
  virtual void Change(WatchComponent& component, const DemandSpec& spec,
                      std::shared_ptr<DemandFeed> feed, DemandChange change) = 0;
};

// The view of one component. Thread-safe.
class ComponentView : public CacheView {
 public:
  struct Config {
    RestClient& client;            // outlives this
    const rbac::Mandate& mandate;  // a constant
    std::weak_ptr<WatchRegistry> registry;
    Metrics& metrics;
    absl::Duration own_write_wait;  // Cache::Options
    size_t max_list_bytes;          // the same
  };

  explicit ComponentView(Config config);
  ~ComponentView() override;

  std::unique_ptr<DemandHandle> Demand(DemandSpec spec, std::shared_ptr<DemandSink> sink) override;
  absl::StatusOr<ObjectPtr> GetRaw(const CallContext& context, const KindInfo& kind,
                                   const ObjectKey& key) const override;
  absl::StatusOr<std::vector<ObjectPtr>> ListRaw(const CallContext& context, const KindInfo& kind,
                                                 std::string_view ns) const override;
  absl::StatusOr<std::vector<ObjectPtr>> ListRawSelected(
      const CallContext& context, const KindInfo& kind, std::string_view ns,
      const LabelSelector& selector) const override;
  std::vector<ObjectPtr> ListLastKnown(const KindInfo& kind, std::string_view ns) const override;
  ObjectPtr GetLastKnown(const KindInfo& kind, const ObjectKey& key) const override;

  absl::Status CheckListSize(const KindInfo& kind, size_t objects, size_t bytes) const override;

  using CacheView::IndexField;
  absl::Status IndexField(const KindInfo& kind, std::string_view field, IndexFunc extract) override;
  absl::StatusOr<std::vector<ObjectPtr>> ListRawByIndex(const CallContext& context,
                                                        const KindInfo& kind,
                                                        const IndexQuery& query) const override;
  std::vector<ObjectPtr> ListLastKnownByIndex(const KindInfo& kind,
                                              const IndexQuery& query) const override;

 private:
  class Handle;

  using Scopes = std::vector<std::shared_ptr<ReadableScope>>;

  // The scopes that can answer for a key, or (no name) for a list. The widest come first.
  Scopes ScopesFor(const DemandSpec& asked) const;
  // The same for a list of what the selector matches.
  Scopes ScopesFor(const DemandSpec& asked, const LabelSelector& selector) const;
  // Those with selectors, which can have the key.
  Scopes SelectedScopesOf(const DemandSpec& asked) const;
  // The store that answers for a key, or (no name) for a list, from one of these scopes.
  absl::StatusOr<std::shared_ptr<const ObjectStore>> StoreFor(const CallContext& context,
                                                              std::string_view call,
                                                              const DemandSpec& asked,
                                                              const Scopes& scopes) const;
  // Reads a key for which only scopes with selectors could answer.
  absl::StatusOr<ObjectPtr> GetSelected(const CallContext& context, const DemandSpec& asked) const;

  const Config config_;
  const std::shared_ptr<WatchComponent> component_;
  const std::shared_ptr<ReadableScopes> scopes_;
  const OwnWriteGate gate_;
};

}  // namespace mandate
