#include "manager/cache/cache_metrics.h"

#include "manager/core/strings.h"

namespace mandate {
namespace {

std::string ScopeName(const DemandSpec& spec) {
  if (!spec.name.empty()) return "object";
  return spec.ns.empty() ? "cluster" : "namespace";
}

Labels OfKind(const DemandSpec& spec) {
  return {{"kind", ResourceName(spec.kind)}, {"scope", ScopeName(spec)}};
}

Labels With(Labels labels, const std::string& key, std::string_view value) {
  labels.emplace(key, value);
  return labels;
}

prometheus::Counter& Requests(Metrics& metrics, const DemandSpec& spec, std::string_view identity,
                              const char* verb) {
  return metrics.Counter("mandate_cache_requests_total", "Lists and watches started",
                         With(With(OfKind(spec), "identity", identity), "verb", verb));
}

prometheus::Counter& Reviews(Metrics& metrics, std::string_view identity, const char* result) {
  return metrics.Counter("mandate_cache_reviews_total", "Access reviews of shared watches",
                         {{"identity", std::string(identity)}, {"result", result}});
}

}  // namespace

std::string ResourceName(const KindInfo& kind) {
  return kind.group.empty() ? std::string(kind.plural) : StrCat(kind.plural, ".", kind.group);
}

WatchMetrics::WatchMetrics(Metrics& metrics, const DemandSpec& spec, std::string_view identity)
    : events(metrics.Counter("mandate_cache_events_total", "Watch events applied to the cache",
                             OfKind(spec))),
      undecodable(metrics.Counter("mandate_cache_undecodable_total",
                                  "Objects and watch frames that could not be decoded",
                                  OfKind(spec))),
      overflows(metrics.Counter("mandate_cache_overflows_total",
                                "Watches and lists that ended because they exceeded a size limit",
                                OfKind(spec))),
      relists(metrics.Counter("mandate_cache_relists_total",
                              "Complete lists read after the first one",
                              With(OfKind(spec), "identity", identity))),
      lists(Requests(metrics, spec, identity, "list")),
      watches(Requests(metrics, spec, identity, "watch")),
      objects_(metrics.Gauge("mandate_cache_objects", "Objects in the cache", OfKind(spec))),
      bytes_(metrics.Gauge("mandate_cache_bytes",
                           "Bytes of the objects in the cache; large objects are compressed",
                           OfKind(spec))),
      encoded_bytes_(metrics.Gauge("mandate_cache_encoded_bytes",
                                   "Bytes of the objects in the cache as the server sent them",
                                   OfKind(spec))),
      open_(metrics.Gauge("mandate_cache_watches", "Open watches",
                          With(OfKind(spec), "identity", identity))) {}

WatchMetrics::~WatchMetrics() {
  SetStore(0, {});
  SetOpen(false);
}

void WatchMetrics::SetStore(size_t objects, const ObjectBytes& bytes) {
  const auto add = [](prometheus::Gauge& gauge, size_t now, size_t before) {
    gauge.Increment(static_cast<double>(now) - static_cast<double>(before));
  };
  add(objects_, objects, stored_objects_);
  add(bytes_, bytes.stored, stored_.stored);
  add(encoded_bytes_, bytes.encoded, stored_.encoded);
  stored_objects_ = objects;
  stored_ = bytes;
}

void WatchMetrics::SetOpen(bool open) {
  if (open != is_open_) open_.Increment(open ? 1 : -1);
  is_open_ = open;
}

AccessMetrics::AccessMetrics(Metrics& metrics, std::string_view identity)
    : allowed(Reviews(metrics, identity, "allowed")),
      denied(Reviews(metrics, identity, "denied")),
      errors(Reviews(metrics, identity, "error")),
      renewals(metrics.Counter("mandate_cache_renewals_total",
                               "Proofs of access renewed by a short watch",
                               {{"identity", std::string(identity)}})),
      slices(metrics.Counter(
          "mandate_cache_slices_total",
          "Turns of the event loop that delivered a part of a demand's pending objects",
          {{"identity", std::string(identity)}})),
      refused_lists(metrics.Counter("mandate_cache_refused_lists_total",
                                    "Typed lists that were too large to decode at once",
                                    {{"identity", std::string(identity)}})),
      demands(metrics.Gauge("mandate_cache_demands", "Demands held",
                            {{"identity", std::string(identity)}})) {}

}  // namespace mandate
