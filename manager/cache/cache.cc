#include "manager/cache/cache.h"

#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "manager/cache/shared_watch.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/metadata.h"

namespace mandate {
namespace {

constexpr KindInfo kNamespace = KindOf<corev1::Namespace>::value;

}  // namespace

// The public functions are thread-safe and post tasks. All others are for the loop's thread.
class Cache::Registry : public WatchRegistry, public std::enable_shared_from_this<Registry> {
 public:
  explicit Registry(const Options& options)
      : options_(options),
        random_(options.seed),
        budget_({.max_bytes = options.max_watch_bytes,
                 .max_watches = options.max_watches,
                 .bytes_per_watch = options.bytes_per_watch},
                options.loop.clock(), options.metrics),
        probes_(options.probes, options.loop, options.metrics),
        closer_(std::in_place, options.closes, options.loop, options.metrics),
        restores_(options.metrics.Counter(
            "mandate_cache_server_restores_total",
            "How often the API server had gone back to an earlier resource version", {})) {
    options_.access.proof_lifetime = options_.proof_lifetime;
    options_.access.needs_list = !options_.reflector.watch_list;
  }

  void Join(WatchComponent& component, std::shared_ptr<ReadableScope> scope,
            std::shared_ptr<DemandFeed> feed) override {
    Post([&component, scope = std::move(scope), feed = std::move(feed)](Registry& self) mutable {
      const DemandSpec spec = scope->spec();
      self.Find(spec).Join(component, std::move(scope), std::move(feed));
    });
  }

  void Change(WatchComponent& component, const DemandSpec& spec, std::shared_ptr<DemandFeed> feed,
              DemandChange change) override {
    Post([&component, spec, feed = std::move(feed), change = std::move(change)](Registry& self) {
      const auto it = self.watches_.find(spec);
      if (it != self.watches_.end()) it->second->Change(component, *feed, change);
    });
  }

  void AddComponent(std::string component) {
    Post([component = std::move(component)](Registry& self) {
      self.budget_.AddComponent(component);
    });
  }

  void RecheckAccess(std::string component, std::string ns, absl::Time until) {
    Post([component = std::move(component), ns = std::move(ns), until](Registry& self) {
      const auto recheck = [component, until](SharedWatch& w) {
        w.RecheckAccess(component, until);
      };
      if (ns.empty()) return self.Visit(recheck, self.watches_.begin());
      self.ForEachIn(ns, recheck);
    });
  }

  void ReadAgain() {
    Post([](Registry& self) {
      self.NoteRestored("all");
      self.Visit([](SharedWatch& watch) { watch.ReadAgain(); }, self.watches_.begin());
    });
  }

  void OnCredentialLost(std::string component, absl::Status why) {
    Post([component = std::move(component), why = std::move(why)](Registry& self) {
      for (const auto& [spec, watch] : self.watches_) watch->OnCredentialLost(component, why);
    });
  }

  Cache::Watches Snapshot(size_t most, std::string_view component) const {
    Cache::Watches result{.entries = {}, .scopes = watches_.size()};
    for (const auto& [spec, watch] : watches_) {
      result.complete = result.entries.size() < most;
      if (!result.complete) break;
      watch->AddSnapshots(component, result.entries);
    }
    return result;
  }

  // Closes every watch, in turn. Tasks that were posted have no effect any more.
  void Close(absl::Time deadline, std::function<void()> done) {
    closed_ = true;
    watches_.clear();
    closer_->Finish(deadline, std::move(done));
  }
  // The same, at once. Views and handles may outlive the registry's cache.
  void CloseNow() {
    closed_ = true;
    watches_.clear();
    closer_.reset();
  }

 private:
  template <class Task>
  void Post(Task task) {
    options_.loop.Post([weak = weak_from_this(), task = std::move(task)]() mutable {
      const auto self = weak.lock();
      if (self != nullptr && !self->closed_) task(*self);
    });
  }

  using WatchMap = std::map<DemandSpec, std::unique_ptr<SharedWatch>, DemandLess>;

  // Calls `act` for each watch from `it` on. Each sends requests, so thousands of them take a
  // while.
  void Visit(std::function<void(SharedWatch&)> act, WatchMap::const_iterator it) {
    for (int i = 0; i < options_.max_watches_per_loop_turn && it != watches_.end(); ++i, ++it) {
      act(*it->second);
    }
    if (it == watches_.end()) return;
    Post([act = std::move(act), next = it->first](Registry& self) {
      self.Visit(act, self.watches_.lower_bound(next));
    });
  }

  // Those that wait since the outage need not wait for the rest of their backoff.
  void EndOutage() {
    if (!std::exchange(outage_, false)) return;
    Post([](Registry& self) {
      self.Visit([](SharedWatch& watch) { watch.OnOutageEnd(); }, self.watches_.begin());
    });
  }

  void NoteRestored(std::string_view group) {
    options_.log.Error(
        "The API server has gone back to an earlier resource version, as after its restoration "
        "from a backup; the watches read their state again",
        {{"group", group}});
    restores_.Increment();
  }

  // The watch of this scope has noticed it, and has the state of now. Another group may have
  // another server, behind the same address.
  void OnRestored(const DemandSpec& scope) {
    Post([scope](Registry& self) {
      self.NoteRestored(scope.kind.group);
      self.Visit(
          [scope](SharedWatch& watch) {
            if (watch.spec().kind.group == scope.kind.group && watch.spec() != scope) {
              watch.ReadAgain();
            }
          },
          self.watches_.begin());
    });
  }

  SharedWatch* FindOpen(const DemandSpec& spec) const {
    const auto found = watches_.find(spec);
    return found == watches_.end() ? nullptr : found->second.get();
  }

  // Plans the watches of narrower scopes again. Each may send requests.
  void ReplanLater(const DemandSpec& wider) {
    if (!wider.name.empty()) return;  // one object contains no other scope
    Post([wider](Registry& self) { self.ReplanSlice(wider, self.watches_.upper_bound(wider)); });
  }
  void ReplanSlice(const DemandSpec& wider, WatchMap::const_iterator it) {
    const auto is_narrower = [&] {
      return it != watches_.end() && DemandLess::IsSameKind(it->first, wider) &&
             (wider.ns.empty() || it->first.ns == wider.ns);
    };
    for (int i = 0; i < options_.max_watches_per_loop_turn && is_narrower(); ++i, ++it) {
      it->second->Replan();
    }
    if (!is_narrower()) return;
    Post([wider, next = it->first](Registry& self) {
      self.ReplanSlice(wider, self.watches_.lower_bound(next));
    });
  }

  SharedWatch& Find(const DemandSpec& spec) {
    auto& watch = watches_[spec];
    if (watch == nullptr) {
      watch = std::make_unique<SharedWatch>(SharedWatch::Config{
          .spec = spec,
          .store = StoreOf(spec.kind),
          .reflector = options_.reflector,
          .access = options_.access,
          .random = random_,
          .metrics = options_.metrics,
          .budget = budget_,
          .probes = probes_,
          .closer = *closer_,
          .log = options_.log,
          .max_events_per_loop_turn = static_cast<size_t>(options_.max_events_per_loop_turn),
          .close_unused_watch_after = options_.close_unused_watch_after,
          .close_covered_watch_after = options_.close_covered_watch_after,
          .find = [this](const DemandSpec& scope) { return FindOpen(scope); },
          .namespace_is_gone = NamespaceIsGone(spec),
          .on_change = OnNamespaces(spec),
          .on_ready = [this, spec] { ReplanLater(spec); },
          .on_outage = [this] { outage_ = true; },
          .on_answer = [this] { EndOutage(); },
          .on_restored = [this, spec] { OnRestored(spec); },
          .max_sponsor_failures = options_.max_sponsor_failures,
          .on_empty = [this, spec] { EraseLater(spec); }});
    }
    return *watch;
  }

  // A component that may see Namespaces need not ask whether it may read what is in a missing one.
  std::function<bool(std::string_view component)> NamespaceIsGone(const DemandSpec& spec) const {
    if (spec.ns.empty()) return nullptr;
    return [this, ns = spec.ns](std::string_view component) {
      for (const KindInfo& kind : {kNamespace, MetadataOf(kNamespace)}) {
        for (const DemandSpec& scope : {DemandSpec{kind, "", ""}, DemandSpec{kind, "", ns}}) {
          const SharedWatch* const watch = FindOpen(scope);
          const auto exists = watch == nullptr ? std::nullopt : watch->Exists(component, {"", ns});
          if (exists) return !*exists;
        }
      }
      return false;
    };
  }
  // RoleBindings come and go with their namespace.
  std::function<void(const ObjectKey&)> OnNamespaces(const DemandSpec& spec) {
    if (!SameResource(spec.kind, kNamespace)) return nullptr;
    return [this](const ObjectKey& key) {
      // The store has the change after this call.
      Post([ns = key.name](Registry& self) {
        self.ForEachIn(ns, [](SharedWatch& watch) { watch.OnNamespace(); });
      });
    };
  }

  // Calls `act` for each watch of the namespace, or of an object in it.
  void ForEachIn(const std::string& ns, absl::FunctionRef<void(SharedWatch&)> act) {
    for (const auto& [kind, store] : stores_) {
      const DemandSpec first = {kind.kind, ns, ""};
      for (auto it = watches_.lower_bound(first);
           it != watches_.end() && DemandLess::IsSameKind(it->first, kind) && it->first.ns == ns;
           ++it) {
        act(*it->second);
      }
    }
  }

  KindStore& StoreOf(const KindInfo& kind) {
    auto& store = stores_[DemandSpec{kind, "", ""}];
    if (store == nullptr) {
      store = std::make_unique<KindStore>(
          kind, KindStore::Options{
                    .packing = options_.packing,
                    .on_stale = [this, kind] { RepackLater(kind); },
                    .repacked = &options_.metrics.Counter(
                        "mandate_cache_repacked_objects_total",
                        "Objects that were compressed anew, without parts of objects that are gone",
                        {{"kind", ResourceName(kind)}}),
                    .transform = options_.transform,
                    .max_closed_scopes = static_cast<size_t>(options_.max_closed_scopes),
                    .forgotten = &options_.metrics.Counter(
                        "mandate_cache_closed_scopes_forgotten_total",
                        "Closed scopes that were forgotten while another watch was behind them",
                        {{"kind", ResourceName(kind)}})});
    }
    return *store;
  }

  void RepackLater(const KindInfo& kind) {
    Post([kind](Registry& self) {
      const auto found = self.stores_.find(DemandSpec{kind, "", ""});
      if (found == self.stores_.end()) return;
      const auto most = static_cast<size_t>(self.options_.max_repacked_per_loop_turn);
      if (found->second->Repack(most)) self.RepackLater(kind);
    });
  }

  void EraseLater(const DemandSpec& spec) {
    Post([spec](Registry& self) {
      const auto it = self.watches_.find(spec);
      if (it == self.watches_.end() || !it->second->empty()) return;
      self.watches_.erase(it);
      const DemandSpec kind = {spec.kind, "", ""};
      const auto next = self.watches_.lower_bound(kind);
      const bool is_used = next != self.watches_.end() && DemandLess::IsSameKind(next->first, spec);
      if (!is_used) self.stores_.erase(kind);
    });
  }

  Options options_;
  std::mt19937_64 random_;
  WatchBudget budget_;
  ProbeBudget probes_;
  std::optional<WatchCloser> closer_;                                    // until CloseNow()
  std::map<DemandSpec, std::unique_ptr<KindStore>, DemandLess> stores_;  // by the widest scope
  WatchMap watches_;
  prometheus::Counter& restores_;
  bool outage_ = false;  // the server has not answered a watch since it accepted one
  bool closed_ = false;
};

absl::StatusOr<std::unique_ptr<Cache>> Cache::Create(Options options) {
  if (absl::Status status = Check(options); !status.ok()) return status;
  return std::unique_ptr<Cache>(new Cache(std::move(options)));
}

Cache::Cache(Options options)
    : options_(std::move(options)), registry_(std::make_shared<Registry>(options_)) {}

Cache::~Cache() { registry_->CloseNow(); }

void Cache::Close(absl::Time deadline, std::function<void()> done) {
  registry_->Close(deadline, std::move(done));
}

Cache::Watches Cache::Snapshot(size_t most, std::string_view component) const {
  return registry_->Snapshot(most, component);
}

CacheView& Cache::AddComponent(RestClient& client, const rbac::Mandate& mandate) {
  client.own_writes().Limit(
      static_cast<size_t>(options_.max_own_writes),
      &options_.metrics.Counter(
          "mandate_cache_own_writes_forgotten_total",
          "Own writes that reads do not wait for, because too many were pending",
          {{"identity", std::string(client.component())}}));
  registry_->AddComponent(std::string(client.component()));
  MutexLock lock(mutex_);
  views_.push_back(std::make_unique<ComponentView>(
      ComponentView::Config{client, mandate, registry_, options_.metrics, options_.own_write_wait,
                            options_.max_list_bytes}));
  return *views_.back();
}

void Cache::RecheckAccess(std::string_view component, std::string_view ns, absl::Time until) {
  registry_->RecheckAccess(std::string(component), std::string(ns), until);
}

void Cache::ReadAgain() { registry_->ReadAgain(); }

void Cache::OnCredentialLost(std::string_view component, absl::Status why) {
  registry_->OnCredentialLost(std::string(component), std::move(why));
}

}  // namespace mandate
