// Metrics: prometheus-cpp's families under controller-runtime's names.
//
// One registry a process, handed down; nothing is global. Get a series once and keep the reference.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <string>

namespace mandate {

using Labels = std::map<std::string, std::string>;

// Thread-safe; series live as long as the registry. Asking twice for the same name and labels gives
// the same series.
class Metrics {
 public:
  Metrics() : registry_(prometheus::Registry::InsertBehavior::Merge) {}

  prometheus::Counter& Counter(const std::string& name, const std::string& help,
                               const Labels& labels) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add(labels);
  }
  prometheus::Gauge& Gauge(const std::string& name, const std::string& help, const Labels& labels) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(labels);
  }
  prometheus::Histogram& Histogram(const std::string& name, const std::string& help,
                                   const Labels& labels,
                                   const prometheus::Histogram::BucketBoundaries& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add(labels,
                                                                                      buckets);
  }

  const prometheus::Registry& registry() const { return registry_; }

 private:
  prometheus::Registry registry_;
};

}  // namespace mandate
