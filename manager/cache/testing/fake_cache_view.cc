#include "manager/cache/testing/fake_cache_view.h"

#include <limits>
#include <map>
#include <utility>

#include "manager/core/mutex.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kEverything = {.component = "fake", .rules = kRules};

// The view needs only its loop and its name.
class NoServer : public RestClient {
 public:
  explicit NoServer(Loop& loop) : loop_(loop) {}
  void Send(const CallContext&, RestRequest, Done done) override {
    std::move(done)(absl::UnavailableError("no server"));
  }
  std::unique_ptr<Stream> Watch(RestRequest, std::shared_ptr<StreamSink>) override {
    return nullptr;
  }
  std::string_view component() const override { return "fake"; }
  Loop& loop() override { return loop_; }

 private:
  Loop& loop_;
};

bool Covers(const DemandSpec& spec, const KindInfo& kind, const ObjectKey& key) {
  return spec.kind == kind && (spec.ns.empty() || spec.ns == key.ns) &&
         (spec.name.empty() || spec.name == key.name);
}

bool Selects(const DemandSpec& spec, const RawObject& object) {
  return spec.labels.empty() ||
         Must(LabelSelector::Parse(spec.labels)).Matches(object.Header().labels);
}

}  // namespace

// The watches, of which the test is the server. Posted tasks share it. On the loop's thread, but
// for Join(), Change() and demands().
class FakeCacheView::Registry : public WatchRegistry,
                                public std::enable_shared_from_this<Registry> {
 public:
  using Of = std::function<bool(const DemandSpec&)>;

  explicit Registry(Loop& loop) : client(loop) {}

  void Join(WatchComponent& component, std::shared_ptr<ReadableScope> scope,
            std::shared_ptr<DemandFeed> feed) override {
    if (on_demand) std::exchange(on_demand, nullptr)();
    MutexLock lock(mutex_);
    demands_.emplace_back(feed, scope->spec());
    client.loop().Post([self = shared_from_this(), scope, feed, &slices = component.counts.slices] {
      if (feed->closed()) return;
      Watch& watch = self->WatchOf(*scope, slices);
      watch.feeds.emplace(feed, scope);
      self->Show(watch, *scope, *feed);
    });
  }

  void Change(WatchComponent&, const DemandSpec& spec, std::shared_ptr<DemandFeed> feed,
              DemandChange change) override {
    if (change.call == DemandChange::kPause && on_pause) on_pause();
    MutexLock lock(mutex_);
    if (change.call == DemandChange::kAddFlow) return added_flows_.push_back(change.flow);
    if (change.call == DemandChange::kLeave) {
      std::erase_if(demands_, [&](const auto& demand) { return demand.first == feed; });
    }
    client.loop().Post([self = shared_from_this(), spec, feed, call = change.call] {
      Watch& watch = self->watches_[spec];
      const auto member = watch.feeds.find(feed);
      if (member == watch.feeds.end()) return;
      if (call == DemandChange::kLeave) return void(watch.feeds.erase(member));
      if (call == DemandChange::kPause) return feed->Pause(watch.store->Snapshot());
      feed->Resume();
      self->Show(watch, *member->second, *feed);
    });
  }

  std::string UidOf(const KindInfo& kind, const ObjectKey& key) const {
    const auto group = content_.find(kind.group);
    if (group == content_.end()) return "";
    const auto objects = group->second.find(kind.plural);
    if (objects == group->second.end()) return "";
    const auto found = objects->second.find(key);
    return found == objects->second.end() ? "" : std::string(found->second->uid());
  }

  void Put(const KindInfo& kind, const ObjectPtr& object) {
    content_[kind.group][kind.plural][object->Key()] = object;
    Apply(kind, object->Key(), [&](const DemandSpec& spec, ObjectStore& store) {
      return Selects(spec, *object) ? store.Put(object) : store.Remove(object);
    });
  }

  void Remove(const KindInfo& kind, const ObjectKey& key) {
    const auto object = content_[kind.group][kind.plural].extract(key);
    if (object.empty()) return;
    Apply(kind, key,
          [&](const DemandSpec&, ObjectStore& store) { return store.Remove(object.mapped()); });
  }

  // Of the demands that `of` selects, also of later ones.
  void SetStatus(const Of& of, const DemandStatus& status) {
    statuses_.emplace_back(of, status);
    for (const auto& [spec, watch] : watches_) {
      if (!of(spec)) continue;
      for (const auto& [feed, scope] : watch.feeds) Show(watch, *scope, *feed);
    }
  }

  std::vector<DemandSpec> demands() const {
    MutexLock lock(mutex_);
    std::vector<DemandSpec> specs;
    for (const auto& [feed, spec] : demands_) specs.push_back(spec);
    return specs;
  }

  std::set<std::string> FlowsOf(const DemandSpec& spec) const {
    std::shared_ptr<DemandFeed> found;
    {
      MutexLock lock(mutex_);
      for (const auto& [feed, demanded] : demands_) {
        if (demanded == spec) found = feed;
      }
    }
    return found == nullptr ? std::set<std::string>() : found->Flows();
  }

  std::vector<std::string> added_flows() const {
    MutexLock lock(mutex_);
    return added_flows_;
  }

  std::string NextVersion() { return StrCat(++version_); }

  NoServer client;
  Metrics metrics;
  std::function<void()> on_demand;  // runs once
  std::function<void()> on_pause;   // set before the first demand

 private:
  // The demands for the same.
  struct Watch {
    std::shared_ptr<ObjectStore> store;
    std::shared_ptr<const DemandFeed::Source> source;
    std::map<std::shared_ptr<DemandFeed>, std::shared_ptr<ReadableScope>> feeds;
  };

  Watch& WatchOf(const ReadableScope& scope, prometheus::Counter& slices) {
    Watch& watch = watches_[scope.spec()];
    if (watch.store != nullptr) return watch;
    watch.store = std::make_shared<ObjectStore>();
    watch.source = std::make_shared<const DemandFeed::Source>(
        DemandFeed::Source{client.loop(), watch.store, /*slice=*/10'000, slices});
    for (const auto& index : scope.indexes()) watch.store->AddIndex(index);
    const KindInfo& kind = scope.spec().kind;
    for (const auto& [key, object] : content_[kind.group][kind.plural]) {
      if (!Covers(scope.spec(), kind, key) || !Selects(scope.spec(), *object)) continue;
      watch.store->Put(object);
    }
    return watch;
  }

  // Reads first, then the sink.
  void Show(const Watch& watch, ReadableScope& scope, DemandFeed& feed) const {
    DemandStatus status = {DemandState::kSynced, absl::OkStatus()};
    for (const auto& [of, set] : statuses_) {
      if (of(scope.spec())) status = set;
    }
    scope.Set(status, watch.store);
    if (status.state == DemandState::kSynced) return feed.Attach(watch.source, status);
    const DemandFeed::Content held = watch.store->Snapshot();
    status.state == DemandState::kForbidden ? feed.Purge(held) : feed.Detach(held);
    feed.SetStatus(status);
  }

  // Changes all stores that cover the object before it delivers anything.
  void Apply(
      const KindInfo& kind, const ObjectKey& key,
      const std::function<std::vector<ObjectEvent>(const DemandSpec&, ObjectStore&)>& change) {
    std::vector<std::pair<std::shared_ptr<DemandFeed>, std::vector<ObjectEvent>>> due;
    for (const auto& [spec, watch] : watches_) {
      if (watch.store == nullptr || !Covers(spec, kind, key)) continue;
      const std::vector<ObjectEvent> events = change(spec, *watch.store);
      for (const auto& [feed, scope] : watch.feeds) due.emplace_back(feed, events);
    }
    for (const auto& [feed, events] : due) feed->Deliver(events);
  }

  std::map<std::string_view, std::map<std::string_view, std::map<ObjectKey, ObjectPtr>>> content_;
  std::map<DemandSpec, Watch, DemandLess> watches_;
  std::vector<std::pair<Of, DemandStatus>> statuses_;  // the last one that selects a demand counts
  int64_t version_ = 1000;
  mutable Mutex mutex_;
  std::vector<std::pair<std::shared_ptr<DemandFeed>, DemandSpec>> demands_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> added_flows_ ABSL_GUARDED_BY(mutex_);
};

FakeCacheView::FakeCacheView(Loop& loop) : FakeCacheView(std::make_shared<Registry>(loop)) {}

FakeCacheView::FakeCacheView(std::shared_ptr<Registry> registry)
    : ComponentView({.client = registry->client,
                     .mandate = kEverything,
                     .registry = registry,
                     .metrics = registry->metrics,
                     .own_write_wait = absl::ZeroDuration(),
                     .max_list_bytes = std::numeric_limits<size_t>::max()}),
      registry_(std::move(registry)) {}

FakeCacheView::~FakeCacheView() = default;

void FakeCacheView::Put(const KindInfo& kind, ObjectPtr object) { registry_->Put(kind, object); }

void FakeCacheView::PutEncoded(const KindInfo& kind, const google::protobuf::Message& object) {
  Put(kind, Must(ParseRawObject(Must(EncodeObject(object, kind, kind.encoding)), kind.encoding)));
}

std::string FakeCacheView::UidOf(const KindInfo& kind, const ObjectKey& key) const {
  return registry_->UidOf(kind, key);
}

std::string FakeCacheView::NextVersion() { return registry_->NextVersion(); }

void FakeCacheView::Remove(const KindInfo& kind, const ObjectKey& key) {
  registry_->Remove(kind, key);
}

void FakeCacheView::SetStatus(const KindInfo& kind, DemandStatus status) {
  registry_->SetStatus([kind](const DemandSpec& spec) { return spec.kind == kind; }, status);
}

void FakeCacheView::SetState(const KindInfo& kind, DemandState state, absl::Status reason) {
  SetStatus(kind, {state, reason, !reason.ok()});
}

void FakeCacheView::SetState(const DemandSpec& spec, DemandState state, absl::Status reason) {
  registry_->SetStatus([spec](const DemandSpec& of) { return of == spec; },
                       {state, reason, !reason.ok()});
}

void FakeCacheView::OnDemand(std::function<void()> hook) { registry_->on_demand = std::move(hook); }
void FakeCacheView::OnPause(std::function<void()> hook) { registry_->on_pause = std::move(hook); }

std::vector<DemandSpec> FakeCacheView::demands() const { return registry_->demands(); }

std::set<std::string> FakeCacheView::FlowsOf(const DemandSpec& spec) const {
  return registry_->FlowsOf(spec);
}

std::vector<std::string> FakeCacheView::added_flows() const { return registry_->added_flows(); }

}  // namespace mandate
