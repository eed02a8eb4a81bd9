#include "manager/cache/component_view.h"

#include <algorithm>
#include <utility>

#include "manager/cache/check_demand.h"
#include "manager/core/mutex.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {

class ComponentView::Handle : public DemandHandle {
 public:
  Handle(std::shared_ptr<DemandFeed> feed, std::shared_ptr<ReadableScope> scope,
         std::shared_ptr<WatchComponent> component, std::weak_ptr<WatchRegistry> registry)
      : feed_(std::move(feed)),
        scope_(std::move(scope)),
        component_(std::move(component)),
        registry_(std::move(registry)) {}

  ~Handle() override {
    feed_->Close();
    scope_->Release();
    Change({DemandChange::kLeave});
  }

  DemandStatus status() const override { return feed_->status(); }
  void Pause() override { Change({DemandChange::kPause}); }
  void Resume() override { Change({DemandChange::kResume}); }
  void AddFlow(std::string flow) override { Change({DemandChange::kAddFlow, std::move(flow)}); }

 private:
  void Change(DemandChange change) {
    if (auto registry = registry_.lock()) {
      registry->Change(*component_, scope_->spec(), feed_, std::move(change));
    }
  }

  const std::shared_ptr<DemandFeed> feed_;
  const std::shared_ptr<ReadableScope> scope_;
  const std::shared_ptr<WatchComponent> component_;
  const std::weak_ptr<WatchRegistry> registry_;  // empty: rejected, there is no watch to leave
};

namespace {

using ScopePtr = std::shared_ptr<ReadableScope>;

// A kind that has metadata only can also be read from the whole objects.
std::vector<KindInfo> SourcesOf(const KindInfo& kind) {
  std::vector<KindInfo> sources = {kind};
  if (kind.metadata_only) {
    sources.push_back(kind);
    sources.back().metadata_only = false;
  }
  return sources;
}

// The scope that a call asks for. A cluster-scoped object has no namespace, whatever its key says.
DemandSpec Asked(const KindInfo& kind, std::string_view ns, std::string_view name = "") {
  return {kind, kind.scope == Scope::kCluster ? "" : std::string(ns), std::string(name)};
}

absl::Status Uncovered(const RestClient& client, const DemandSpec& asked) {
  return absl::FailedPreconditionError(
      StrCat("no demand of ", client.component(), " covers ", asked.ToString(),
             ": declare one before reading (For, Owns, Watches, DemandSet, or CacheView::Demand)"));
}

// Why no scope can answer.
class Refusals {
 public:
  void Add(const ReadableScope& scope, const DemandStatus& status) {
    const std::string_view why = AsStd(status.reason.message());
    if (status.state == DemandState::kForbidden) {
      forbidden_.Update(absl::PermissionDeniedError(AsAbsl(why)));
    } else {
      unavailable_.Update(absl::UnavailableError(
          StrCat(scope.spec().ToString(), " is ", ToString(status.state), ": ", why)));
    }
  }
  // OK: there were none.
  absl::Status status() const { return unavailable_.ok() ? forbidden_ : unavailable_; }

 private:
  absl::Status forbidden_;
  absl::Status unavailable_;
};

// The store that answers a read, or the error if no store can.
absl::StatusOr<std::shared_ptr<const ObjectStore>> Choose(const std::vector<ScopePtr>& scopes) {
  Refusals refusals;
  for (const ScopePtr& scope : scopes) {
    ReadableScope::Reading reading = scope->Read();
    if (reading.store != nullptr) return std::move(reading.store);
    refusals.Add(*scope, reading.status);
  }
  return refusals.status();
}

// Of scopes with selectors, the store that has the newest version of this key. If none has it, any;
// but an error if one of them cannot be read, which may have it.
absl::StatusOr<std::shared_ptr<const ObjectStore>> ChooseSelected(
    const std::vector<ScopePtr>& scopes, const ObjectKey& key) {
  Refusals refusals;
  std::shared_ptr<const ObjectStore> best;
  ObjectPtr newest;
  for (const ScopePtr& scope : scopes) {
    ReadableScope::Reading reading = scope->Read();
    if (reading.store == nullptr) {
      refusals.Add(*scope, reading.status);
      continue;
    }
    ObjectPtr held = reading.store->Get(key.ns, key.name);
    const bool is_newer =
        held != nullptr &&
        (newest == nullptr || IsOlder(newest->resource_version(), held->resource_version()));
    if (is_newer) newest = std::move(held);
    if (is_newer || best == nullptr) best = std::move(reading.store);
  }
  if (newest == nullptr && !refusals.status().ok()) return refusals.status();
  return best;
}

}  // namespace

ComponentView::ComponentView(Config config)
    : config_(std::move(config)),
      component_(std::make_shared<WatchComponent>(
          WatchComponent{config_.client, AccessMetrics(config_.metrics, config_.client.component()),
                         std::make_shared<WaitSet>(config_.client.loop())})),
      scopes_(std::make_shared<ReadableScopes>()),
      gate_({config_.client.own_writes(), component_->waits, config_.client.loop(),
             config_.own_write_wait, config_.metrics, config_.client.component()}) {}

ComponentView::~ComponentView() = default;

std::unique_ptr<DemandHandle> ComponentView::Demand(DemandSpec spec,
                                                    std::shared_ptr<DemandSink> sink) {
  if (spec.kind.scope == Scope::kCluster) spec.ns.clear();
  auto feed = std::make_shared<DemandFeed>(std::move(sink));
  auto scope = scopes_->Acquire(spec);
  if (absl::Status refused = CheckDemand(config_.mandate, spec); !refused.ok()) {
    const DemandStatus status{DemandState::kForbidden, std::move(refused)};
    scope->Set(status, nullptr);
    config_.client.loop().Post([feed, status] { feed->SetStatus(status); });
    return std::make_unique<Handle>(std::move(feed), std::move(scope), component_,
                                    std::weak_ptr<WatchRegistry>());
  }
  if (auto registry = config_.registry.lock()) registry->Join(*component_, scope, feed);
  return std::make_unique<Handle>(std::move(feed), std::move(scope), component_, config_.registry);
}

ComponentView::Scopes ComponentView::ScopesFor(const DemandSpec& asked) const {
  return scopes_->FindCovering(asked);
}

ComponentView::Scopes ComponentView::ScopesFor(const DemandSpec& asked,
                                               const LabelSelector& selector) const {
  Scopes scopes = ScopesFor(asked);
  for (ScopePtr& scope : SelectedScopesOf(asked)) {
    const auto applied = LabelSelector::Parse(scope->spec().labels);
    if (applied.ok() && applied->Includes(selector)) scopes.push_back(std::move(scope));
  }
  return scopes;
}

ComponentView::Scopes ComponentView::SelectedScopesOf(const DemandSpec& asked) const {
  Scopes scopes;
  const auto add = [&](const KindInfo& kind, const std::string& ns) {
    for (ScopePtr& scope : scopes_->FindSelected(kind, ns)) scopes.push_back(std::move(scope));
  };
  for (const KindInfo& kind : SourcesOf(asked.kind)) {
    add(kind, "");
    if (!asked.ns.empty()) add(kind, asked.ns);
  }
  return scopes;
}

absl::StatusOr<std::shared_ptr<const ObjectStore>> ComponentView::StoreFor(
    const CallContext& context, std::string_view call, const DemandSpec& asked,
    const Scopes& scopes) const {
  RETURN_IF_ERROR(CheckMayWait(config_.client.loop(), context, call, asked));
  if (scopes.empty()) return Uncovered(config_.client, asked);
  if (!gate_.MayHold(asked.kind)) return Choose(scopes);
  return gate_.Pass(
      context, asked.kind, asked.ns, asked.name, [scopes] { return Choose(scopes); },
      [&](const ObjectKey& key) {
        // All scopes that have it, whether they hold whole objects or metadata.
        const DemandSpec written = {MetadataOf(asked.kind), key.ns, key.name};
        return ScopesFor(written).size() == 1 && SelectedScopesOf(written).empty();
      });
}

absl::StatusOr<ObjectPtr> ComponentView::GetRaw(const CallContext& context, const KindInfo& kind,
                                                const ObjectKey& key) const {
  const DemandSpec asked = Asked(kind, key.ns, key.name);
  const Scopes scopes = ScopesFor(asked);
  if (scopes.empty()) return GetSelected(context, asked);
  auto store = StoreFor(context, "GetRaw", asked, scopes);
  if (!store.ok()) return std::move(store).status();
  ObjectPtr object = (*store)->Get(asked.ns, asked.name);
  if (object == nullptr) return absl::NotFoundError(StrCat(asked.ToString(), " does not exist"));
  return object;
}

absl::StatusOr<ObjectPtr> ComponentView::GetSelected(const CallContext& context,
                                                     const DemandSpec& asked) const {
  RETURN_IF_ERROR(CheckMayWait(config_.client.loop(), context, "GetRaw", asked));
  const Scopes scopes = SelectedScopesOf(asked);
  if (scopes.empty()) return Uncovered(config_.client, asked);
  const ObjectKey key = {asked.ns, asked.name};
  // Another store may be older: own writes are kept.
  auto store = gate_.Pass(
      context, asked.kind, asked.ns, asked.name,
      [scopes, key] { return ChooseSelected(scopes, key); },
      [](const ObjectKey&) { return false; });
  if (!store.ok()) return std::move(store).status();
  ObjectPtr object = (*store)->Get(asked.ns, asked.name);
  if (object != nullptr) return object;
  return absl::FailedPreconditionError(
      StrCat(asked.ToString(), " is in none of the ", scopes.size(), " demands of ",
             config_.client.component(), " with a label selector; whether it exists with other ",
             "labels is unknown: demand it by name, or its namespace without a selector"));
}

absl::StatusOr<std::vector<ObjectPtr>> ComponentView::ListRaw(const CallContext& context,
                                                              const KindInfo& kind,
                                                              std::string_view ns) const {
  const DemandSpec asked = Asked(kind, ns);
  auto store = StoreFor(context, "ListRaw", asked, ScopesFor(asked));
  if (!store.ok()) return std::move(store).status();
  return (*store)->List(asked.ns);
}

absl::StatusOr<std::vector<ObjectPtr>> ComponentView::ListRawSelected(
    const CallContext& context, const KindInfo& kind, std::string_view ns,
    const LabelSelector& selector) const {
  const DemandSpec asked = Asked(kind, ns);
  auto store = StoreFor(context, "ListRawSelected", asked, ScopesFor(asked, selector));
  if (!store.ok()) return std::move(store).status();
  std::vector<ObjectPtr> objects = (*store)->List(asked.ns);
  std::erase_if(
      objects, [&](const ObjectPtr& object) { return !selector.Matches(object->Header().labels); });
  return objects;
}

std::vector<ObjectPtr> ComponentView::ListLastKnown(const KindInfo& kind,
                                                    std::string_view ns) const {
  const DemandSpec asked = Asked(kind, ns);
  for (const ScopePtr& scope : ScopesFor(asked)) {
    if (const auto store = scope->LastKnown()) return store->List(asked.ns);
  }
  return {};
}

ObjectPtr ComponentView::GetLastKnown(const KindInfo& kind, const ObjectKey& key) const {
  const DemandSpec asked = Asked(kind, key.ns, key.name);
  for (const ScopePtr& scope : ScopesFor(asked)) {
    if (const auto store = scope->LastKnown()) return store->Get(asked.ns, asked.name);
  }
  return nullptr;
}

absl::Status ComponentView::IndexField(const KindInfo& kind, std::string_view field,
                                       IndexFunc extract) {
  return scopes_->AddIndex({kind, std::string(field), std::move(extract)});
}

absl::StatusOr<std::vector<ObjectPtr>> ComponentView::ListRawByIndex(
    const CallContext& context, const KindInfo& kind, const IndexQuery& query) const {
  const DemandSpec asked = Asked(kind, query.ns);
  const auto index = scopes_->FindIndex(kind, query.field);
  if (index == nullptr) {
    return absl::InvalidArgumentError(
        StrCat(config_.client.component(), " has no index ", query.field, " of ", asked.ToString(),
               ": declare it with IndexField before the first demand of the kind"));
  }
  auto store = StoreFor(context, "ListRawByIndex", asked, ScopesFor(asked));
  if (!store.ok()) return std::move(store).status();
  return (*store)->ReadBy(*index, query.value, asked.ns);
}

std::vector<ObjectPtr> ComponentView::ListLastKnownByIndex(const KindInfo& kind,
                                                           const IndexQuery& query) const {
  const auto index = scopes_->FindIndex(kind, query.field);
  if (index == nullptr) return ListLastKnown(kind, query.ns);
  const DemandSpec asked = Asked(kind, query.ns);
  for (const ScopePtr& scope : ScopesFor(asked)) {
    if (const auto store = scope->LastKnown())
      return store->ListByIndex(*index, query.value, asked.ns);
  }
  return {};
}

absl::Status ComponentView::CheckListSize(const KindInfo& kind, size_t objects,
                                          size_t bytes) const {
  if (bytes <= config_.max_list_bytes) return absl::OkStatus();
  component_->counts.refused_lists.Increment();
  return absl::ResourceExhaustedError(
      StrCat("a list of ", objects, " ", ResourceName(kind), " takes ", bytes,
             " bytes or more, beyond max_list_bytes (", config_.max_list_bytes,
             "): list fewer of them (by an index, a selector or a namespace), decode them one at a "
             "time (ListRaw), or raise --max-watch-size"));
}

}  // namespace mandate
