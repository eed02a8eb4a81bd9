#include "manager/cache/component_view.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "manager/cache/permit.h"
#include "manager/cache/resource_version.h"
#include "manager/core/mutex.h"
#include "manager/core/strings.h"

namespace mandate {

// The component's reads by scope. A grant lives as long as a demand or a membership holds it.
// Thread-safe.
class ComponentView::Grants {
 public:
  std::shared_ptr<ReadGrant> Acquire(const DemandSpec& spec) {
    MutexLock lock(mutex_);
    if (grants_.size() >= sweep_at_) {
      std::erase_if(grants_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = std::max<size_t>(64, 2 * grants_.size());
    }
    std::weak_ptr<ReadGrant>& entry = grants_[spec];
    auto grant = entry.lock();
    if (grant == nullptr) entry = grant = std::make_shared<ReadGrant>(spec);
    grant->Add();
    return grant;
  }

  // Those with demands, of `scopes`, in that order.
  std::vector<std::shared_ptr<ReadGrant>> Find(const std::vector<DemandSpec>& scopes) const {
    std::vector<std::shared_ptr<ReadGrant>> found;
    MutexLock lock(mutex_);
    for (const DemandSpec& scope : scopes) {
      const auto it = grants_.find(scope);
      auto grant = it == grants_.end() ? nullptr : it->second.lock();
      if (grant != nullptr && grant->demands() > 0) found.push_back(std::move(grant));
    }
    return found;
  }

  // Those with demands of the kind; the one of cluster scope alone, where there is one.
  std::vector<std::shared_ptr<ReadGrant>> FindAll(const KindInfo& kind) const {
    std::vector<std::shared_ptr<ReadGrant>> found;
    MutexLock lock(mutex_);
    for (auto it = grants_.lower_bound({kind, "", ""});
         it != grants_.end() && it->first.kind == kind; ++it) {
      auto grant = it->second.lock();
      if (grant == nullptr || grant->demands() == 0) continue;
      found.push_back(std::move(grant));
      if (it->first.ns.empty() && it->first.name.empty()) break;
    }
    return found;
  }

 private:
  mutable Mutex mutex_;
  std::map<DemandSpec, std::weak_ptr<ReadGrant>, DemandLess> grants_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 64;
};

class ComponentView::Handle : public DemandHandle {
 public:
  Handle(std::shared_ptr<DemandFeed> feed, std::shared_ptr<ReadGrant> grant,
         std::shared_ptr<WatchComponent> component, std::weak_ptr<WatchRegistry> registry)
      : feed_(std::move(feed)),
        grant_(std::move(grant)),
        component_(std::move(component)),
        registry_(std::move(registry)) {}

  ~Handle() override {
    feed_->Close();
    grant_->Release();
    if (auto registry = registry_.lock()) registry->Leave(*component_, grant_->spec(), feed_);
  }

  DemandStatus status() const override { return feed_->status(); }

 private:
  const std::shared_ptr<DemandFeed> feed_;
  const std::shared_ptr<ReadGrant> grant_;
  const std::shared_ptr<WatchComponent> component_;
  const std::weak_ptr<WatchRegistry> registry_;  // empty: refused, nothing to leave
};

namespace {

using Grant = std::shared_ptr<ReadGrant>;

// The scopes that can answer for a key, or (no name) for a list; the widest first.
std::vector<DemandSpec> Scopes(const KindInfo& kind, std::string_view ns, std::string_view name) {
  std::vector<DemandSpec> scopes = {{kind, "", ""}};
  if (!ns.empty()) scopes.push_back({kind, std::string(ns), ""});
  if (!name.empty()) scopes.push_back({kind, std::string(ns), std::string(name)});
  return scopes;
}

absl::Status Uncovered(const RestClient& client, const DemandSpec& asked) {
  return absl::FailedPreconditionError(
      StrCat("no demand of ", client.component(), " covers ", asked.ToString(),
             ": declare one before reading (For, Owns, Watches, or CacheView::Demand)"));
}

// The store that answers, or why none does.
absl::StatusOr<std::shared_ptr<const ObjectStore>> Choose(const std::vector<Grant>& grants) {
  absl::Status forbidden;
  absl::Status unavailable;
  for (const Grant& grant : grants) {
    ReadGrant::Reading reading = grant->Read();
    if (reading.store != nullptr) return std::move(reading.store);
    const std::string_view why = AsStd(reading.status.reason.message());
    if (reading.status.state == DemandState::kForbidden) {
      forbidden.Update(absl::PermissionDeniedError(AsAbsl(why)));
    } else {
      unavailable.Update(absl::UnavailableError(
          StrCat(grant->spec().ToString(), " is ", ToString(reading.status.state), ": ", why)));
    }
  }
  return unavailable.ok() ? forbidden : unavailable;
}

// Of a wait: what ends it although nothing was seen.
std::optional<absl::Status> EndsWait(const absl::Status& why) {
  if (absl::IsUnavailable(why)) return std::nullopt;
  return why;
}

absl::Status NotComparable(std::string_view resource_version) {
  return absl::InvalidArgumentError(
      StrCat("resource version \"", resource_version, "\" is no number: it cannot be waited for"));
}

bool HasReached(const ObjectStore& store, const ObjectKey& key, std::string_view version) {
  if (store.HasReached(version)) return true;
  const ObjectPtr object = store.Get(key.ns, key.name);
  return object != nullptr && ParseResourceVersion(object->resource_version()) &&
         !IsOlder(object->resource_version(), version);
}

}  // namespace

ComponentView::ComponentView(Config config)
    : config_(std::move(config)),
      component_(std::make_shared<WatchComponent>(
          WatchComponent{config_.client, AccessMetrics(config_.metrics, config_.client.component()),
                         std::make_shared<WaitSet>(config_.client.loop())})),
      grants_(std::make_shared<Grants>()) {}

ComponentView::~ComponentView() = default;

std::unique_ptr<DemandHandle> ComponentView::Demand(DemandSpec spec,
                                                    std::shared_ptr<DemandSink> sink) {
  if (spec.kind.scope == Scope::kCluster) spec.ns.clear();
  auto feed = std::make_shared<DemandFeed>(std::move(sink));
  auto grant = grants_->Acquire(spec);
  if (absl::Status refused = CheckDemand(config_.mandate, spec); !refused.ok()) {
    const DemandStatus status{DemandState::kForbidden, std::move(refused)};
    grant->Set(status, nullptr);
    config_.client.loop().Post([feed, status] { feed->SetStatus(status); });
    return std::make_unique<Handle>(std::move(feed), std::move(grant), component_,
                                    std::weak_ptr<WatchRegistry>());
  }
  if (auto registry = config_.registry.lock()) registry->Join(*component_, grant, feed);
  return std::make_unique<Handle>(std::move(feed), std::move(grant), component_, config_.registry);
}

absl::StatusOr<ObjectPtr> ComponentView::GetRaw(const KindInfo& kind, const ObjectKey& key) const {
  const auto grants = grants_->Find(Scopes(kind, key.ns, key.name));
  if (grants.empty()) return Uncovered(config_.client, {kind, key.ns, key.name});
  auto store = Choose(grants);
  if (!store.ok()) return std::move(store).status();
  ObjectPtr object = (*store)->Get(key.ns, key.name);
  if (object == nullptr) {
    return absl::NotFoundError(
        StrCat(DemandSpec{kind, key.ns, key.name}.ToString(), " does not exist"));
  }
  return object;
}

absl::StatusOr<std::vector<ObjectPtr>> ComponentView::ListRaw(const KindInfo& kind,
                                                              std::string_view ns) const {
  const auto grants = grants_->Find(Scopes(kind, ns, ""));
  if (grants.empty()) return Uncovered(config_.client, {kind, std::string(ns), ""});
  auto store = Choose(grants);
  if (!store.ok()) return std::move(store).status();
  return (*store)->List(ns);
}

std::vector<ObjectPtr> ComponentView::ListLastKnown(const KindInfo& kind,
                                                    std::string_view ns) const {
  for (const Grant& grant : grants_->Find(Scopes(kind, ns, ""))) {
    if (const auto store = grant->LastKnown()) return store->List(ns);
  }
  return {};
}

absl::Status ComponentView::WaitUntilSeen(const CallContext& context, const KindInfo& kind,
                                          std::string_view resource_version) {
  if (!ParseResourceVersion(resource_version)) return NotComparable(resource_version);
  const DemandSpec all{kind, "", ""};
  std::string what = StrCat(all.ToString(), " at resource version ", resource_version);
  return component_->waits->Wait(
      context, kind, std::move(what),
      [this, all, version = std::string(resource_version)]() -> std::optional<absl::Status> {
        auto grants = grants_->FindAll(all.kind);
        if (grants.empty()) return Uncovered(config_.client, all);
        absl::Status forbidden;
        bool allowed = false;
        for (const Grant& grant : grants) {
          auto store = Choose({grant});
          if (absl::IsPermissionDenied(store.status())) {
            forbidden.Update(store.status());
            continue;
          }
          allowed = true;
          if (!store.ok() || !(*store)->HasReached(version)) return std::nullopt;
        }
        return allowed ? absl::OkStatus() : forbidden;
      });
}

absl::Status ComponentView::WaitUntilObjectSeen(const CallContext& context, const KindInfo& kind,
                                                const ObjectKey& key,
                                                std::string_view resource_version) {
  if (!ParseResourceVersion(resource_version)) return NotComparable(resource_version);
  const DemandSpec one{kind, key.ns, key.name};
  std::string what = StrCat(one.ToString(), " at resource version ", resource_version);
  return component_->waits->Wait(
      context, kind, std::move(what),
      [this, one, key, version = std::string(resource_version)]() -> std::optional<absl::Status> {
        const auto grants = grants_->Find(Scopes(one.kind, one.ns, one.name));
        if (grants.empty()) return Uncovered(config_.client, one);
        auto store = Choose(grants);
        if (!store.ok()) return EndsWait(store.status());
        if (!HasReached(**store, key, version)) return std::nullopt;
        return absl::OkStatus();
      });
}

absl::Status ComponentView::WaitUntilGone(const CallContext& context, const KindInfo& kind,
                                          const ObjectKey& key, std::string_view uid) {
  const DemandSpec one{kind, key.ns, key.name};
  return component_->waits->Wait(
      context, kind, StrCat("the end of ", one.ToString()),
      [this, one, uid = std::string(uid)]() -> std::optional<absl::Status> {
        const auto grants = grants_->Find(Scopes(one.kind, one.ns, one.name));
        if (grants.empty()) return Uncovered(config_.client, one);
        auto store = Choose(grants);
        if (!store.ok()) return EndsWait(store.status());
        const ObjectPtr object = (*store)->Get(one.ns, one.name);
        if (object != nullptr && object->uid() == uid) return std::nullopt;
        return absl::OkStatus();
      });
}

}  // namespace mandate
