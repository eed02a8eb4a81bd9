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
#include <memory>
#include <string>
#include <utility>

namespace mandate {

using Labels = std::map<std::string, std::string>;

// Thread-safe; series live as long as the registry. Asking twice for the same name and labels gives
// the same series.
class Metrics {
 public:
  Metrics()
      : registry_(
            std::make_shared<prometheus::Registry>(prometheus::Registry::InsertBehavior::Merge)) {}

  // The same registry, where each series that is asked for has `labels`, too: of one cluster.
  Metrics With(Labels labels) const {
    labels.insert(labels_.begin(), labels_.end());
    return Metrics(registry_, std::move(labels));
  }

  prometheus::Counter& Counter(const std::string& name, const std::string& help,
                               const Labels& labels) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(All(labels));
  }
  prometheus::Gauge& Gauge(const std::string& name, const std::string& help, const Labels& labels) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(All(labels));
  }
  prometheus::Histogram& Histogram(const std::string& name, const std::string& help,
                                   const Labels& labels,
                                   const prometheus::Histogram::BucketBoundaries& buckets) {
    return prometheus::BuildHistogram()
        .Name(name)
        .Help(help)
        .Register(*registry_)
        .Add(All(labels), buckets);
  }

  const prometheus::Registry& registry() const { return *registry_; }

 private:
  Metrics(std::shared_ptr<prometheus::Registry> registry, Labels labels)
      : registry_(std::move(registry)), labels_(std::move(labels)) {}

  Labels All(Labels labels) const {
    labels.insert(labels_.begin(), labels_.end());
    return labels;
  }

  std::shared_ptr<prometheus::Registry> registry_;
  Labels labels_;
};

}  // namespace mandate
