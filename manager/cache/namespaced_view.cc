#include "manager/cache/namespaced_view.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"

namespace mandate {
namespace {

using ObjectPtr = std::shared_ptr<const RawObject>;
using Objects = std::vector<ObjectPtr>;

// The worst has the highest number.
int Rank(DemandState state) {
  switch (state) {
    case DemandState::kSynced:
      return 0;
    case DemandState::kStale:
      return 1;
    case DemandState::kPending:
      return 2;
    case DemandState::kKindAbsent:
      return 3;
    case DemandState::kForbidden:
      return 4;
  }
  return 4;
}

DemandStatus Worst(const std::vector<DemandStatus>& statuses) {
  return *std::ranges::max_element(statuses, {},
                                   [](const DemandStatus& status) { return Rank(status.state); });
}

// The sink of a demand that became several. On the loop.
class Joined {
 public:
  Joined(std::shared_ptr<DemandSink> sink, size_t count)
      : sink_(std::move(sink)),
        statuses_(count,
                  {DemandState::kPending, absl::UnavailableError("no request was sent yet")}),
        told_(statuses_[0]) {}

  DemandSink& sink() const { return *sink_; }
  void SetStatus(size_t part, const DemandStatus& status) {
    statuses_[part] = status;
    DemandStatus worst = Worst(statuses_);
    if (told_.EqualsIgnoringText(worst)) return;
    told_ = std::move(worst);
    sink_->OnState(told_);
  }

 private:
  const std::shared_ptr<DemandSink> sink_;
  std::vector<DemandStatus> statuses_;
  DemandStatus told_;
};

class PartSink : public DemandSink {
 public:
  PartSink(std::shared_ptr<Joined> joined, size_t part) : joined_(std::move(joined)), part_(part) {}

  void OnEvent(const ObjectEvent& event) override { joined_->sink().OnEvent(event); }
  void OnPurged(const Objects& objects) override { joined_->sink().OnPurged(objects); }
  void OnState(const DemandStatus& status) override { joined_->SetStatus(part_, status); }
  std::set<std::string> Flows() const override { return joined_->sink().Flows(); }

 private:
  const std::shared_ptr<Joined> joined_;
  const size_t part_;
};

std::vector<std::string> Sorted(std::vector<std::string> namespaces) {
  std::ranges::sort(namespaces);
  return namespaces;
}

}  // namespace

absl::Status CheckWatchedNamespaces(const std::vector<std::string>& namespaces) {
  const std::vector<std::string> sorted = Sorted(namespaces);
  for (const std::string& ns : sorted) {
    const absl::Status valid = CheckDnsLabel(ns);
    if (!valid.ok()) {
      return absl::InvalidArgumentError(
          StrCat("\"", ns, "\" cannot be a namespace: ", AsStd(valid.message())));
    }
  }
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("namespace ", *twice, " is listed twice"));
}

class NamespacedView::Handle : public DemandHandle {
 public:
  explicit Handle(std::vector<std::unique_ptr<DemandHandle>> parts) : parts_(std::move(parts)) {}

  DemandStatus status() const override {
    std::vector<DemandStatus> statuses;
    for (const auto& part : parts_) statuses.push_back(part->status());
    return Worst(statuses);
  }
  void Pause() override {
    for (const auto& part : parts_) part->Pause();
  }
  void Resume() override {
    for (const auto& part : parts_) part->Resume();
  }
  void AddFlow(std::string flow) override {
    for (const auto& part : parts_) part->AddFlow(flow);
  }

 private:
  const std::vector<std::unique_ptr<DemandHandle>> parts_;
};

NamespacedView::NamespacedView(CacheView& inner, std::vector<std::string> namespaces)
    : inner_(inner), namespaces_(Sorted(std::move(namespaces))) {}

std::vector<DemandSpec> NamespacedView::Split(const DemandSpec& spec) const {
  const bool is_named = !spec.ns.empty() || !spec.name.empty();
  if (is_named || spec.kind.scope == Scope::kCluster) return {spec};
  std::vector<DemandSpec> parts(namespaces_.size(), spec);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].ns = namespaces_[i];
  return parts;
}

std::unique_ptr<DemandHandle> NamespacedView::Demand(DemandSpec spec,
                                                     std::shared_ptr<DemandSink> sink) {
  std::vector<DemandSpec> parts = Split(spec);
  if (parts.size() == 1) return inner_.Demand(std::move(parts[0]), std::move(sink));
  const auto joined =
      sink == nullptr ? nullptr : std::make_shared<Joined>(std::move(sink), parts.size());
  std::vector<std::unique_ptr<DemandHandle>> handles;
  for (size_t i = 0; i < parts.size(); ++i) {
    handles.push_back(inner_.Demand(
        std::move(parts[i]), joined == nullptr ? nullptr : std::make_shared<PartSink>(joined, i)));
  }
  return std::make_unique<Handle>(std::move(handles));
}

template <class Read>
auto NamespacedView::ForEach(const KindInfo& kind, std::string_view ns, Read read) const {
  using Result = std::invoke_result_t<Read, std::string_view>;
  if (!ns.empty() || kind.scope == Scope::kCluster) {
    if constexpr (std::is_same_v<Result, Objects>) {
      return read(ns);
    } else {
      Result objects = read(ns);
      if (!objects.ok()) return Result(Explain(objects.status(), kind, ns));
      return objects;
    }
  }
  Objects all;
  const auto add = [&](Objects objects) {
    all.insert(all.end(), std::make_move_iterator(objects.begin()),
               std::make_move_iterator(objects.end()));
  };
  for (const std::string& one : namespaces_) {
    Result objects = read(one);
    if constexpr (std::is_same_v<Result, Objects>) {
      add(std::move(objects));
    } else {
      if (!objects.ok()) return objects;
      add(*std::move(objects));
    }
  }
  return Result(std::move(all));
}

absl::Status NamespacedView::Explain(absl::Status status, const KindInfo& kind,
                                     std::string_view ns) const {
  const bool is_watched =
      kind.scope == Scope::kCluster || std::ranges::binary_search(namespaces_, ns);
  if (is_watched || !absl::IsFailedPrecondition(status)) return status;
  return absl::FailedPreconditionError(
      StrCat(AsStd(status.message()), "; the manager watches only the namespaces ",
             absl::StrJoin(namespaces_, ", "), " (--watch-namespaces)"));
}

absl::StatusOr<ObjectPtr> NamespacedView::GetRaw(const CallContext& context, const KindInfo& kind,
                                                 const ObjectKey& key) const {
  auto object = inner_.GetRaw(context, kind, key);
  if (!object.ok()) return Explain(object.status(), kind, key.ns);
  return object;
}

absl::StatusOr<Objects> NamespacedView::ListRaw(const CallContext& context, const KindInfo& kind,
                                                std::string_view ns) const {
  return ForEach(kind, ns,
                 [&](std::string_view one) { return inner_.ListRaw(context, kind, one); });
}

absl::StatusOr<Objects> NamespacedView::ListRawSelected(const CallContext& context,
                                                        const KindInfo& kind, std::string_view ns,
                                                        const LabelSelector& selector) const {
  return ForEach(kind, ns, [&](std::string_view one) {
    return inner_.ListRawSelected(context, kind, one, selector);
  });
}

Objects NamespacedView::ListLastKnown(const KindInfo& kind, std::string_view ns) const {
  return ForEach(kind, ns, [&](std::string_view one) { return inner_.ListLastKnown(kind, one); });
}

ObjectPtr NamespacedView::GetLastKnown(const KindInfo& kind, const ObjectKey& key) const {
  return inner_.GetLastKnown(kind, key);
}

absl::Status NamespacedView::CheckListSize(const KindInfo& kind, size_t objects,
                                           size_t bytes) const {
  return inner_.CheckListSize(kind, objects, bytes);
}

absl::Status NamespacedView::IndexField(const KindInfo& kind, std::string_view field,
                                        IndexFunc extract) {
  return inner_.IndexField(kind, field, std::move(extract));
}

absl::StatusOr<Objects> NamespacedView::ListRawByIndex(const CallContext& context,
                                                       const KindInfo& kind,
                                                       const IndexQuery& query) const {
  return ForEach(kind, query.ns, [&](std::string_view one) {
    return inner_.ListRawByIndex(context, kind, {query.field, query.value, one});
  });
}

Objects NamespacedView::ListLastKnownByIndex(const KindInfo& kind, const IndexQuery& query) const {
  return ForEach(kind, query.ns, [&](std::string_view one) {
    return inner_.ListLastKnownByIndex(kind, {query.field, query.value, one});
  });
}

}  // namespace mandate
