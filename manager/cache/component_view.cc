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
    Change(DemandChange::kLeave);
  }

  DemandStatus status() const override { return feed_->status(); }
  void Pause() override { Change(DemandChange::kPause); }
  void Resume() override { Change(DemandChange::kResume); }

 private:
  void Change(DemandChange change) {
    if (auto registry = registry_.lock()) {
      registry->Change(*component_, scope_->spec(), feed_, change);
    }
  }

  const std::shared_ptr<DemandFeed> feed_;
  const std::shared_ptr<ReadableScope> scope_;
  const std::shared_ptr<WatchComponent> component_;
  const std::weak_ptr<WatchRegistry> registry_;  // empty: rejected, there is no watch to leave
};

namespace {

using ScopePtr = std::shared_ptr<ReadableScope>;

// The scopes that can answer for a key, or for a list if the key has no name. The widest comes
// first.
std::vector<DemandSpec> Scopes(const KindInfo& kind, std::string_view ns, std::string_view name) {
  std::vector<DemandSpec> scopes = {{kind, "", ""}};
  if (!ns.empty()) scopes.push_back({kind, std::string(ns), ""});
  if (!name.empty()) scopes.push_back({kind, std::string(ns), std::string(name)});
  return scopes;
}

// The scope that a call asks for. A cluster-scoped object has no namespace, whatever its key says.
DemandSpec Asked(const KindInfo& kind, std::string_view ns, std::string_view name = "") {
  return {kind, kind.scope == Scope::kCluster ? "" : std::string(ns), std::string(name)};
}

absl::Status Uncovered(const RestClient& client, const DemandSpec& asked) {
  return absl::FailedPreconditionError(
      StrCat("no demand of ", client.component(), " covers ", asked.ToString(),
             ": declare one before reading (For, Owns, Watches, or CacheView::Demand)"));
}

// The store that answers a read, or the error if no store can.
absl::StatusOr<std::shared_ptr<const ObjectStore>> Choose(const std::vector<ScopePtr>& scopes) {
  absl::Status forbidden;
  absl::Status unavailable;
  for (const ScopePtr& scope : scopes) {
    ReadableScope::Reading reading = scope->Read();
    if (reading.store != nullptr) return std::move(reading.store);
    const std::string_view why = AsStd(reading.status.reason.message());
    if (reading.status.state == DemandState::kForbidden) {
      forbidden.Update(absl::PermissionDeniedError(AsAbsl(why)));
    } else {
      unavailable.Update(absl::UnavailableError(
          StrCat(scope->spec().ToString(), " is ", ToString(reading.status.state), ": ", why)));
    }
  }
  return unavailable.ok() ? forbidden : unavailable;
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

absl::StatusOr<std::shared_ptr<const ObjectStore>> ComponentView::StoreFor(
    const CallContext& context, std::string_view call, const DemandSpec& asked) const {
  RETURN_IF_ERROR(CheckMayWait(config_.client.loop(), context, call, asked));
  const auto scopes = scopes_->Find(Scopes(asked.kind, asked.ns, asked.name));
  if (scopes.empty()) return Uncovered(config_.client, asked);
  return gate_.Pass(
      context, asked.kind, asked.ns, asked.name, [scopes] { return Choose(scopes); },
      [&](const ObjectKey& key) {
        return scopes_->Find(Scopes(asked.kind, key.ns, key.name)).size() == 1;
      });
}

absl::StatusOr<ObjectPtr> ComponentView::GetRaw(const CallContext& context, const KindInfo& kind,
                                                const ObjectKey& key) const {
  const DemandSpec asked = Asked(kind, key.ns, key.name);
  auto store = StoreFor(context, "GetRaw", asked);
  if (!store.ok()) return std::move(store).status();
  ObjectPtr object = (*store)->Get(asked.ns, asked.name);
  if (object == nullptr) return absl::NotFoundError(StrCat(asked.ToString(), " does not exist"));
  return object;
}

absl::StatusOr<std::vector<ObjectPtr>> ComponentView::ListRaw(const CallContext& context,
                                                              const KindInfo& kind,
                                                              std::string_view ns) const {
  const DemandSpec asked = Asked(kind, ns);
  auto store = StoreFor(context, "ListRaw", asked);
  if (!store.ok()) return std::move(store).status();
  return (*store)->List(asked.ns);
}

std::vector<ObjectPtr> ComponentView::ListLastKnown(const KindInfo& kind,
                                                    std::string_view ns) const {
  const DemandSpec asked = Asked(kind, ns);
  for (const ScopePtr& scope : scopes_->Find(Scopes(kind, asked.ns, ""))) {
    if (const auto store = scope->LastKnown()) return store->List(asked.ns);
  }
  return {};
}

ObjectPtr ComponentView::GetLastKnown(const KindInfo& kind, const ObjectKey& key) const {
  const DemandSpec asked = Asked(kind, key.ns, key.name);
  for (const ScopePtr& scope : scopes_->Find(Scopes(kind, asked.ns, asked.name))) {
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
  auto store = StoreFor(context, "ListRawByIndex", asked);
  if (!store.ok()) return std::move(store).status();
  return (*store)->ReadBy(*index, query.value, asked.ns);
}

std::vector<ObjectPtr> ComponentView::ListLastKnownByIndex(const KindInfo& kind,
                                                           const IndexQuery& query) const {
  const auto index = scopes_->FindIndex(kind, query.field);
  if (index == nullptr) return ListLastKnown(kind, query.ns);
  const DemandSpec asked = Asked(kind, query.ns);
  for (const ScopePtr& scope : scopes_->Find(Scopes(kind, asked.ns, ""))) {
    if (const auto store = scope->LastKnown())
      return store->ListByIndex(*index, query.value, asked.ns);
  }
  return {};
}

}  // namespace mandate
