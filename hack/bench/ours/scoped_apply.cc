#include "hack/bench/ours/scoped_apply.h"

#include <memory>
#include <string>
#include <vector>

#include "hack/bench/ours/report.h"
#include "hack/bench/ours/rig.h"
#include "hack/bench/ours/scoped_workloads.h"
#include "manager/cache/demand_table.h"
#include "manager/cache/kind_store.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/object_codec.h"

namespace mandate::bench {
namespace {

constexpr int kNamespaces = 100;
constexpr int kObjects = 10;  // of each namespace, and its owners
constexpr size_t kMostEvents = 256;

class NoListener : public KindStore::Listener {
 public:
  void OnObjects(const std::vector<ObjectEvent>&) override {}
  void OnReplaced(const std::shared_ptr<const ObjectSet>&) override {}
};

// Versions have ten digits, as in a server that has run for a while.
std::string VersionAt(int i) { return StrCat(1'000'000'000 + i); }

absl::StatusOr<std::string> Encoded(int ns, int object, int version) {
  corev1::ConfigMap map;
  auto& meta = *map.mutable_metadata();
  meta.set_namespace_(NamespaceAt(ns));
  meta.set_name(ObjectAt(object));
  meta.set_uid(StrCat("6a1f0f0e-0000-4000-8000-", 100'000'000'000 + ns * kObjects + object));
  meta.set_resourceversion(VersionAt(version));
  (*meta.mutable_labels())["app"] = StrCat("a", object);
  (*map.mutable_data())["payload"] = std::string(600, 'x');
  return EncodeObject(map, Encoding::kProtobuf);
}

struct Stores {
  Stores() {
    for (int ns = 0; ns < kNamespaces; ++ns) {
      specs.push_back({kConfigMaps, NamespaceAt(ns), ""});
      streams.push_back(store.Open(specs.back(), listener, kMostEvents));
      streams.back()->Replace({}, VersionAt(0), kMostEvents);
    }
  }

  NoListener listener;
  KindStore store{kConfigMaps};
  std::vector<DemandSpec> specs;
  std::vector<std::unique_ptr<KindStore::Stream>> streams;
};

}  // namespace

absl::Status ApplyAndRoute(int events, bool parse, bool selectors) {
  Stores stores;
  DemandTable table;
  for (int i = 0; i < kNamespaces * kObjects; ++i) {
    LabelSelector selector;
    if (selectors) {
      ASSIGN_OR_RETURN(selector, LabelSelector::FromMap({{"app", StrCat("a", i % kObjects)}}));
    }
    table.Replace(OwnerAt(i), {{stores.specs[static_cast<size_t>(i / kObjects)], selector,
                                SelectorMode::kRoute}});
  }
  // As many versions of each object as the memory of a small machine allows are made beforehand.
  constexpr int kBatch = 20'000;
  double used = 0;
  int64_t routed = 0;
  for (int done = 0; done < events; done += kBatch) {
    std::vector<std::string> frames;
    std::vector<ObjectPtr> objects;
    for (int i = done; i < done + kBatch; ++i) {
      ASSIGN_OR_RETURN(frames.emplace_back(),
                       Encoded(i % kNamespaces, i / kNamespaces % kObjects, 1 + i));
      if (parse) continue;
      ASSIGN_OR_RETURN(objects.emplace_back(), ParseRawObject(frames.back(), Encoding::kProtobuf));
    }
    const double before = CpuSeconds();
    for (int i = 0; i < kBatch; ++i) {
      const size_t ns = static_cast<size_t>((done + i) % kNamespaces);
      ObjectPtr object;
      if (parse) {
        ASSIGN_OR_RETURN(object,
                         ParseRawObject(frames[static_cast<size_t>(i)], Encoding::kProtobuf));
      } else {
        object = std::move(objects[static_cast<size_t>(i)]);
      }
      KindStore::Stream& stream = *stores.streams[ns];
      for (const ObjectEvent& event : stream.Put(stream.Pack(std::move(object)))) {
        const auto count = [&](const ObjectKey&) { ++routed; };
        if (table.HasSelectors(stores.specs[ns])) {
          table.ForEachOwner(stores.specs[ns], event.object->Header().labels, count);
        } else {
          table.ForEachOwner(stores.specs[ns], count);
        }
      }
    }
    used += CpuSeconds() - before;
  }
  const int64_t applied = (static_cast<int64_t>(events) + kBatch - 1) / kBatch * kBatch;
  if (routed != applied * (selectors ? 1 : kObjects)) {
    return absl::InternalError(StrCat(routed, " requests of ", applied, " events"));
  }
  Report("events per second", static_cast<double>(applied) / used, "1/s");
  return absl::OkStatus();
}

}  // namespace mandate::bench
