// Three components, shared watches, faults and changing rights. In the end each component with
// access has seen every change once. At no time did a component read objects to which it had lost
// its right long ago, or any objects while it was revoked.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"

namespace mandate {
namespace {

constexpr std::array<const char*, 3> kNames = {"a", "b", "c"};
constexpr std::array<const char*, 4> kScopes = {"", "foo", "bar", "foo/3"};

DemandSpec SpecOf(std::string_view scope) {
  const size_t slash = scope.find('/');
  if (slash == scope.npos) return {kWidget, std::string(scope), ""};
  return {kWidget, std::string(scope.substr(0, slash)), std::string(scope.substr(slash + 1))};
}

// A component whose credential can be taken away. Then its watches end with a 401, and it sends no
// more requests.
class RevocableClient : public FakeRestClient {
 public:
  using FakeRestClient::FakeRestClient;

  void Revoke() {
    revoked_ = true;
    for (const auto& watch : watches()) {
      if (watch->live()) watch->Close(absl::UnauthenticatedError("401"));
    }
  }
  void Restore() { revoked_ = false; }
  bool revoked() const { return revoked_; }

  void Send(const CallContext& context, RestRequest request, Done done) override {
    if (!revoked_) return FakeRestClient::Send(context, std::move(request), std::move(done));
    loop().Post([done = std::move(done)]() mutable { std::move(done)(NoToken()); });
  }
  std::unique_ptr<Stream> Watch(RestRequest request, std::shared_ptr<StreamSink> sink) override {
    auto stream = FakeRestClient::Watch(std::move(request), std::move(sink));
    if (revoked_) watches().back()->Close(NoToken());
    return stream;
  }

 private:
  static absl::Status NoToken() { return absl::FailedPreconditionError("its Secret is gone"); }

  bool revoked_ = false;
};

struct Totals {
  int revoked = 0;
  int forbidden = 0;
  int handovers = 0;
  int reviews = 0;
  int demands = 0;
  int reads = 0;
  int compressed = 0;  // objects that were read
  int newer = 0;       // objects that were read at a newer version than before
};

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : die_(seed), server_(loop_, seed * 31 + 5), metrics_() {
    Cache::Options options{.loop = loop_, .metrics = metrics_};
    options.seed = seed;
    options.close_unused_watch_after = absl::Seconds(die_() % 2 == 0 ? 0 : 20);
    options.close_covered_watch_after = absl::Seconds(die_() % 60);
    options.reflector.watch_list = die_() % 3 != 0;
    options.reflector.page_size = 1 + static_cast<int>(die_() % 4);
    options.reflector.max_frame_bytes = 1000;
    options.reflector.max_queue_bytes = 2000 + die_() % 20000;
    options.packing = {.min_object_bytes = die_() % 3 == 0 ? SIZE_MAX : 1,
                       .sample_bytes = 4000,
                       .dictionary_bytes = 1000};
    cache_ = *Cache::Create(options);
    for (size_t i = 0; i < kNames.size(); ++i) {
      clients_[i] = std::make_unique<RevocableClient>(loop_, kNames[i]);
      clients_[i]->SetDelay([this] { return absl::Milliseconds(die_() % 100); });
      server_.Serve(*clients_[i]);
      views_[i] = &cache_->AddComponent(*clients_[i], kReader);
      EXPECT_TRUE(views_[i]->IndexField(kWidget, "name", NameOf).ok());
      server_.Grant(kNames[i]);
    }
    const auto chance = [this](double most) {
      return most * std::uniform_real_distribution<double>(0, 1)(die_);
    };
    server_.faults() = {.refuse_watch = chance(0.3),
                        .refuse_list = chance(0.3),
                        .expire_page = chance(0.3),
                        .no_watch_list = chance(0.5),
                        .cut = chance(0.2),
                        .garbage = chance(0.1),
                        .drop_bookmark = chance(0.3),
                        .refuse_review = chance(0.5),
                        .delay = absl::Milliseconds(die_() % 1000)};
  }

  void Run(Totals& totals) {
    for (int step = 0; step < 150; ++step) {
      Step(totals);
      loop_.RunFor(absl::Milliseconds(die_() % (die_() % 8 == 0 ? 300'000 : 3000)));
      CheckReads(totals);
      CheckVersions(totals);
    }
    server_.faults() = {};
    for (const char* name : kNames) Grant(name, "");
    for (const auto& client : clients_) client->Restore();
    cache_->RecheckAccess();
    loop_.RunFor(absl::Minutes(11));
    CheckEnd();
    // No component sends requests in a tight loop, whatever the faults are.
    const double minutes =
        (loop_.clock().TimeNow() - absl::FromUnixSeconds(1'700'000'000)) / absl::Minutes(1);
    for (const auto& client : clients_) {
      EXPECT_LT(client->requests().size(), 40 * minutes);
    }
    for (const auto& client : clients_) {
      totals.reviews += static_cast<int>(client->Count("selfsubjectaccessreviews"));
    }
    totals.handovers += static_cast<int>(
        metrics_.Counter("mandate_cache_handovers_total", "", {{"kind", "widgets.example.com"}})
            .Value());
    for (auto& demanded : demands_) demanded.reset();
    loop_.RunFor(absl::Minutes(1));
    CheckNothingIsLeft();
  }

 private:
  struct Live {
    size_t component;
    std::string scope;
    Demanded demanded;
  };

  void Grant(const std::string& name, const std::string& ns) {
    server_.Grant(name, ns);
    if (server_.Allows(name, "")) revoked_.erase({name, ""});
    for (const char* scope : {"foo", "bar"}) {
      if (server_.Allows(name, scope)) revoked_.erase({name, scope});
    }
  }
  void Revoke(const std::string& name, const std::string& ns) {
    server_.Revoke(name, ns);
    for (const char* scope : {"", "foo", "bar"}) {
      if (!server_.Allows(name, scope)) {
        revoked_.emplace(std::pair(name, std::string(scope)), loop_.clock().TimeNow());
      }
    }
  }

  void Step(Totals& totals) {
    const std::string name = kNames[die_() % kNames.size()];
    const std::string key = StrCat(die_() % 2 == 0 ? "foo" : "bar", "/", die_() % 6);
    switch (die_() % 21) {
      case 0:
      case 1:
        server_.Delete(key);
        return;
      case 2:
        server_.Compact();
        return;
      case 3:
        Revoke(name, die_() % 2 == 0 ? "" : "foo");
        if (die_() % 2 == 0) cache_->RecheckAccess(name);
        return;
      case 4:
      case 5:
        Grant(name, die_() % 2 == 0 ? "" : "foo");
        if (die_() % 2 == 0) cache_->RecheckAccess();
        return;
      case 6:
        server_.SetServed(false);
        loop_.RunFor(absl::Seconds(die_() % 60));
        server_.SetServed(true);
        return;
      case 7:
      case 8:
      case 9: {
        auto& slot = demands_[die_() % demands_.size()];
        if (slot) {
          totals.forbidden += slot->demanded.state() == DemandState::kForbidden;
          CheckSink(*slot);
          slot.reset();
          return;
        }
        ++totals.demands;
        slot = std::make_unique<Live>();
        slot->component = die_() % kNames.size();
        slot->scope = kScopes[die_() % kScopes.size()];
        slot->demanded.handle =
            views_[slot->component]->Demand(SpecOf(slot->scope), slot->demanded.sink);
        return;
      }
      case 10: {
        RevocableClient& client = *clients_[die_() % clients_.size()];
        if (client.revoked()) {
          client.Restore();
          if (die_() % 2 == 0) cache_->RecheckAccess(client.component());
          return;
        }
        ++totals.revoked;
        client.Revoke();
        cache_->OnCredentialLost(client.component(), absl::UnauthenticatedError("401"));
        return;
      }
      default:
        server_.Put(key);
    }
  }

  // Invariant 3: no proof lives longer than proof_lifetime.
  void CheckReads(Totals& totals) {
    for (size_t i = 0; i < kNames.size(); ++i) {
      for (const char* ns : {"", "foo", "bar"}) {
        const auto lost = revoked_.find({kNames[i], ns});
        const auto list = views_[i]->ListRaw({}, kWidget, ns);
        CheckIndex(*views_[i], ns, list);
        if (!list.ok()) continue;
        ++totals.reads;
        EXPECT_FALSE(clients_[i]->revoked()) << kNames[i] << " reads \"" << ns << "\" all the same";
        if (lost == revoked_.end()) continue;
        EXPECT_LE(loop_.clock().TimeNow() - lost->second, absl::Minutes(5) + absl::Seconds(1))
            << kNames[i] << " still reads \"" << ns << "\"";
      }
    }
  }

  // No object goes back to an older version for a component, whichever of its demands answers, and
  // a deleted one does not return.
  void CheckVersions(Totals& totals) {
    for (size_t i = 0; i < kNames.size(); ++i) {
      for (const char* ns : {"foo", "bar"}) {
        for (int name = 0; name < 6; ++name) {
          auto& [newest, is_gone] = versions_[{i, StrCat(ns, "/", name)}];
          const auto object = views_[i]->GetRaw({}, kWidget, {ns, StrCat(name)});
          if (absl::IsNotFound(object.status())) is_gone = true;
          if (!object.ok()) continue;
          const uint64_t version = *ParseResourceVersion((*object)->resource_version());
          EXPECT_GE(version, newest + is_gone) << kNames[i] << " " << ns << "/" << name;
          totals.newer += version > newest;
          totals.compressed += (*object)->stored_size() < (*object)->size();
          newest = version;
          is_gone = false;
        }
      }
    }
  }

  static std::vector<std::string> NameOf(const RawObject& object) {
    return {std::string(object.name())};
  }

  // An index gives the same answer as a list, restricted to the objects of that name.
  void CheckIndex(const CacheView& view, std::string_view ns,
                  const absl::StatusOr<std::vector<ObjectPtr>>& list) {
    const std::string name = StrCat(die_() % 6);
    const auto with_name = [&](std::vector<ObjectPtr> objects) {
      std::erase_if(objects, [&](const ObjectPtr& object) { return object->name() != name; });
      return Text(objects);
    };
    EXPECT_EQ(Text(view.ListLastKnownByIndex(kWidget, {"name", name, ns})),
              with_name(view.ListLastKnown(kWidget, ns)));
    const auto named = view.ListRawByIndex({}, kWidget, {"name", name, ns});
    EXPECT_EQ(named.status(), list.status());
    if (named.ok() && list.ok()) {
      EXPECT_EQ(Text(*named), with_name(*list));
    }
  }

  void CheckSink(const Live& live) {
    for (const std::string& violation : live.demanded.sink->violations()) {
      ADD_FAILURE() << kNames[live.component] << " " << live.scope << ": " << violation;
    }
  }

  void CheckEnd() {
    std::map<std::string, std::set<size_t>> scopes;  // and the components that demand them
    for (const auto& live : demands_) {
      if (!live) continue;
      SCOPED_TRACE(StrCat(kNames[live->component], " \"", live->scope, "\""));
      CheckSink(*live);
      const DemandSpec spec = SpecOf(live->scope);
      EXPECT_EQ(live->demanded.state(), DemandState::kSynced)
          << live->demanded.handle->status().reason;
      EXPECT_EQ(live->demanded.sink->Content(), server_.Content(spec));
      if (spec.name.empty()) {
        auto list = views_[live->component]->ListRaw({}, kWidget, spec.ns);
        EXPECT_TRUE(list.ok());
        if (list.ok()) {
          EXPECT_EQ(Text(*list), server_.Content(spec));
        }
      }
      scopes[live->scope].insert(live->component);
    }
    size_t watches = 0;
    for (const auto& [scope, components] : scopes) watches += !IsCovered(scope, components, scopes);
    EXPECT_EQ(server_.live_watches(), watches) << "one watch a scope that no wider one covers";
  }

  // Whether all of these components also demand one wider scope.
  static bool IsCovered(const std::string& scope, const std::set<size_t>& components,
                        const std::map<std::string, std::set<size_t>>& scopes) {
    return std::any_of(scopes.begin(), scopes.end(), [&](const auto& wider) {
      const DemandSpec narrow = SpecOf(scope), wide = SpecOf(wider.first);
      const bool contains =
          wide != narrow && (wide.ns.empty() || wide.ns == narrow.ns) && wide.name.empty();
      return contains && std::includes(wider.second.begin(), wider.second.end(), components.begin(),
                                       components.end());
    });
  }

  void CheckNothingIsLeft() {
    EXPECT_EQ(server_.live_watches(), 0u);
    for (const char* scope : {"cluster", "namespace", "object"}) {
      const Labels labels = {{"kind", "widgets.example.com"}, {"scope", scope}};
      EXPECT_EQ(metrics_.Gauge("mandate_cache_objects", "", labels).Value(), 0);
      EXPECT_EQ(metrics_.Gauge("mandate_cache_bytes", "", labels).Value(), 0);
    }
    for (const char* name : kNames) {
      EXPECT_EQ(metrics_.Gauge("mandate_cache_demands", "", {{"identity", name}}).Value(), 0);
    }
    for (const auto& client : clients_) client->ForgetRequests();
    loop_.RunFor(absl::Hours(1));
    for (const auto& client : clients_) EXPECT_EQ(client->requests().size(), 0u);
  }

  std::mt19937_64 die_;
  SimulatedLoop loop_;
  WidgetServer server_;
  Metrics metrics_;
  std::array<std::unique_ptr<RevocableClient>, 3> clients_;
  std::unique_ptr<Cache> cache_;
  std::array<CacheView*, 3> views_;
  // By component and key: the newest version that was read, and whether the object was absent
  // since.
  std::map<std::pair<size_t, std::string>, std::pair<uint64_t, bool>> versions_;
  std::array<std::unique_ptr<Live>, 10> demands_;
  // The time since which a component may not read a namespace ("": everything).
  std::map<std::pair<std::string, std::string>, absl::Time> revoked_;
};

TEST(CacheSimulation, SharesWithoutLossDoublesOrLeaks) {
  Totals totals;
  const int64_t ran = RunSeeds(300, [&](uint64_t seed) { Simulation(seed).Run(totals); });
  if (ran < 100) return;
  // The intended faults did happen.
  EXPECT_GT(totals.revoked, ran);
  EXPECT_GT(totals.newer, 30 * ran);
  EXPECT_GT(totals.compressed, 30 * ran);
  EXPECT_GT(totals.demands, 3 * ran);
  EXPECT_GT(totals.reads, 30 * ran);
  EXPECT_GT(totals.forbidden, ran);
  EXPECT_GT(totals.handovers, ran);
  EXPECT_GT(totals.reviews, 30 * ran);
}

}  // namespace
}  // namespace mandate
