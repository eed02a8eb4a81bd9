// A component's view of the cache that counts the reads of a whole kind, for tests of the cost of
// events and reconciles.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/cache/cache_view.h"

namespace mandate::scope {

// Single-threaded.
class CountingView : public CacheView {
 public:
  using Raw = std::shared_ptr<const RawObject>;

  // Both outlive this. Each list without an index increments `lists`.
  CountingView(CacheView& view, int& lists) : view_(view), lists_(lists) {}

  using CacheView::IndexField;
  std::unique_ptr<DemandHandle> Demand(DemandSpec spec, std::shared_ptr<DemandSink> sink) override {
    return view_.Demand(std::move(spec), std::move(sink));
  }
  absl::StatusOr<Raw> GetRaw(const CallContext& context, const KindInfo& kind,
                             const ObjectKey& key) const override {
    return view_.GetRaw(context, kind, key);
  }
  absl::StatusOr<std::vector<Raw>> ListRaw(const CallContext& context, const KindInfo& kind,
                                           std::string_view ns) const override {
    ++lists_;
    return view_.ListRaw(context, kind, ns);
  }
  absl::StatusOr<std::vector<Raw>> ListRawSelected(const CallContext& context, const KindInfo& kind,
                                                   std::string_view ns,
                                                   const LabelSelector& selector) const override {
    ++lists_;
    return view_.ListRawSelected(context, kind, ns, selector);
  }
  std::vector<Raw> ListLastKnown(const KindInfo& kind, std::string_view ns) const override {
    ++lists_;
    return view_.ListLastKnown(kind, ns);
  }
  Raw GetLastKnown(const KindInfo& kind, const ObjectKey& key) const override {
    return view_.GetLastKnown(kind, key);
  }
  absl::Status IndexField(const KindInfo& kind, std::string_view field,
                          IndexFunc extract) override {
    return view_.IndexField(kind, field, std::move(extract));
  }
  absl::StatusOr<std::vector<Raw>> ListRawByIndex(const CallContext& context, const KindInfo& kind,
                                                  const IndexQuery& query) const override {
    return view_.ListRawByIndex(context, kind, query);
  }
  std::vector<Raw> ListLastKnownByIndex(const KindInfo& kind,
                                        const IndexQuery& query) const override {
    return view_.ListLastKnownByIndex(kind, query);
  }

 private:
  CacheView& view_;
  int& lists_;
};

}  // namespace mandate::scope
