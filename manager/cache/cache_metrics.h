// The metrics of the cache. The number of series is bounded: labels are kinds, scopes and
// components, never namespaces.
#pragma once

#include <string>
#include <string_view>

#include "manager/cache/cache_view.h"
#include "manager/cache/reflector_target.h"
#include "manager/core/metrics.h"

namespace mandate {

// The share of one reflector in the metrics of its kind, scope and identity. Loop thread only. The
// Metrics outlive this.
class WatchMetrics {
 public:
  WatchMetrics(Metrics& metrics, const DemandSpec& spec, std::string_view identity);
  // Subtracts its part from the gauges.
  ~WatchMetrics();
  WatchMetrics(const WatchMetrics&) = delete;
  WatchMetrics& operator=(const WatchMetrics&) = delete;

  void SetStore(size_t objects, const ObjectBytes& bytes);
  void SetOpen(bool open);

  // mandate_cache_events_total{kind,scope}: watch events applied.
  prometheus::Counter& events;
  // mandate_cache_undecodable_total{kind,scope}: watch events that were invalid or of an unknown
  // type.
  prometheus::Counter& undecodable;
  // mandate_cache_overflows_total{kind,scope}: watches and lists that ended because they exceeded a
  // size limit.
  prometheus::Counter& overflows;
  // mandate_cache_relists_total{kind,scope,identity}: complete lists read after the first one.
  prometheus::Counter& relists;
  // mandate_cache_requests_total{kind,scope,identity,verb=list|watch}: started.
  prometheus::Counter& lists;
  prometheus::Counter& watches;

 private:
  // mandate_cache_objects{kind,scope}; mandate_cache_bytes{kind,scope}: as they are held;
  // mandate_cache_encoded_bytes{kind,scope}: as the server sent them. In all stores.
  prometheus::Gauge& objects_;
  prometheus::Gauge& bytes_;
  prometheus::Gauge& encoded_bytes_;
  // mandate_cache_watches{kind,scope,identity}: open now.
  prometheus::Gauge& open_;
  size_t stored_objects_ = 0;
  ObjectBytes stored_;
  bool is_open_ = false;
};

// The series of one component's proofs and demands.
struct AccessMetrics {
  AccessMetrics(Metrics& metrics, std::string_view identity);

  // mandate_cache_reviews_total{identity,result=allowed|denied|error}
  prometheus::Counter& allowed;
  prometheus::Counter& denied;
  prometheus::Counter& errors;
  // mandate_cache_renewals_total{identity}: proofs renewed by a watch that the server accepted.
  prometheus::Counter& renewals;
  // mandate_cache_slices_total{identity}: turns of the loop that delivered a part of a demand's
  // pending objects.
  prometheus::Counter& slices;
  // mandate_cache_refused_lists_total{identity}: too large to decode (Cache::Options).
  prometheus::Counter& refused_lists;
  // mandate_cache_demands{identity}: held now.
  prometheus::Gauge& demands;
};

// "rolebindings.rbac.authorization.k8s.io"
std::string ResourceName(const KindInfo& kind);

}  // namespace mandate
