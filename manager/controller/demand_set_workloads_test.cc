// How many watches and requests the demands of many objects cost the API server.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/controller/demand_set.h"
#include "manager/core/metrics.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

constexpr int kObjects = 1000;

constexpr KindInfo kDeployments = {
    .group = "apps", .version = "v1", .kind = "Deployment", .plural = "deployments"};
constexpr KindInfo kPods = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};
constexpr KindInfo kSecrets = {.group = "", .version = "v1", .kind = "Secret", .plural = "secrets"};

constexpr std::array<std::string_view, 2> kVerbs = {"list", "watch"};
constexpr std::array<std::string_view, 2> kGroups = {"", "apps"};
constexpr std::array<std::string_view, 3> kPlurals = {"deployments", "pods", "secrets"};
constexpr std::array<rbac::MandateRule, 1> kRules = {
    {{{kVerbs, kGroups, kPlurals, {}, {}}, "", false}}};
constexpr rbac::Mandate kMandate = {"operator", kRules};

using Demands = std::vector<SelectedDemand>;

SelectedDemand In(const KindInfo& kind, std::string ns, LabelSelector selector = {}) {
  return {{kind, std::move(ns), ""}, std::move(selector)};
}

// A component at a server that permits everything and has no objects.
class DemandSetWorkloads : public testing::Test {
 protected:
  DemandSetWorkloads()
      : client_(loop_, "operator"), cache_(*Cache::Create({.loop = loop_, .metrics = metrics_})) {
    client_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
      watch->Open();
      watch->Send(BookmarkJson("5", /*initial_events_end=*/true));
    });
    demands_ = std::make_shared<DemandSet>(ControllerContext{
        "operator", loop_, pool_, cache_->AddComponent(client_, kMandate), metrics_, Logger(), 1});
    demands_->Connect("operator", [](const std::vector<Request>&) {});
  }
  ~DemandSetWorkloads() override {
    demands_->Close();
    loop_.RunReady();
  }

  static DemandOwner Owner(int i) { return {{StrCat("ns-", i), "object"}, StrCat("uid-", i)}; }
  static std::string Ns(int i) { return StrCat("ns-", i); }

  // The objects demand what `of` returns, and all of it is synced.
  void Demand(int objects, const std::function<Demands(int)>& of) {
    for (int i = 0; i < objects; ++i) demands_->Replace(Owner(i), of(i));
    loop_.RunFor(absl::Seconds(1));
    for (int i = 0; i < objects; ++i) {
      ASSERT_EQ(demands_->Check(Owner(i)), absl::OkStatus()) << i;
    }
  }
  // Each watch brings the objects that exist, so it needs no list; and no access is reviewed.
  void ExpectWatches(size_t count) {
    EXPECT_EQ(client_.live_watches(), count);
    EXPECT_EQ(client_.requests().size(), count);
    EXPECT_EQ(client_.Count("sendInitialEvents=true"), count);
    const std::set<std::string> distinct(client_.requests().begin(), client_.requests().end());
    EXPECT_EQ(distinct.size(), count) << "a scope is watched twice";
  }
  void ReleaseAll(int objects) {
    client_.ForgetRequests();
    for (int i = 0; i < objects; ++i) demands_->Release(Owner(i));
    loop_.RunFor(absl::Seconds(20));  // Cache::Options::closes
    EXPECT_EQ(client_.live_watches(), 0u);
    loop_.RunFor(absl::Hours(1));
    EXPECT_EQ(client_.requests().size(), 0u) << "nothing is left that could ask";
    EXPECT_EQ(metrics_.Gauge("mandate_cache_demands", "", {{"identity", "operator"}}).Value(), 0);
  }

  SimulatedLoop loop_;
  SimulatedPool pool_{loop_, 1};
  Metrics metrics_;
  FakeRestClient client_;
  std::unique_ptr<Cache> cache_;
  std::shared_ptr<DemandSet> demands_;
};

TEST_F(DemandSetWorkloads, OneObjectInEachNamespace) {
  Demand(kObjects, [](int i) -> Demands { return {In(kDeployments, Ns(i)), In(kPods, Ns(i))}; });
  ExpectWatches(2 * kObjects);
  ReleaseAll(kObjects);
}

TEST_F(DemandSetWorkloads, AllObjectsInOneNamespace) {
  Demand(kObjects, [](int i) -> Demands {
    const LabelSelector own = *LabelSelector::Parse(StrCat("memcachedLabel=memcached-", i));
    return {In(kDeployments, "ns", own), In(kPods, "ns", own)};
  });
  ExpectWatches(2);
  ReleaseAll(kObjects);
}

// Fewer objects than namespaces, for the time of the test.
TEST_F(DemandSetWorkloads, EachObjectDemandsEveryNamespace) {
  constexpr int kDemanding = 100;
  Demand(kDemanding, [](int) {
    Demands demands;
    for (int ns = 0; ns < kObjects; ++ns) {
      demands.push_back(In(kDeployments, Ns(ns)));
      demands.push_back(In(kPods, Ns(ns)));
    }
    return demands;
  });
  ExpectWatches(2 * kObjects);
  ReleaseAll(kDemanding);
}

TEST_F(DemandSetWorkloads, OneNamedSecretForEachObject) {
  Demand(kObjects, [](int i) -> Demands { return {{{kSecrets, "ns", StrCat("secret-", i)}}}; });
  ExpectWatches(kObjects);
  EXPECT_EQ(client_.Count("fieldSelector=metadata.name"), static_cast<size_t>(kObjects));
  ReleaseAll(kObjects);
}

// The same demands again cost nothing, and one more costs one watch.
TEST_F(DemandSetWorkloads, OnlyAChangeOpensAWatch) {
  Demand(kObjects, [](int i) -> Demands { return {In(kPods, Ns(i))}; });
  client_.ForgetRequests();
  Demand(kObjects, [](int i) -> Demands { return {In(kPods, Ns(i))}; });
  EXPECT_EQ(client_.requests().size(), 0u);
  demands_->Replace(Owner(7), {In(kPods, Ns(7)), {{kSecrets, Ns(7), "one"}}});
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(client_.requests().size(), 1u);
  EXPECT_EQ(client_.live_watches(), kObjects + 1u);
  ReleaseAll(kObjects);
}

TEST_F(DemandSetWorkloads, TenThousandCyclesLeaveNothing) {
  for (int i = 0; i < 10'000; ++i) {
    demands_->Replace(Owner(i % 10), {In(kPods, Ns(i % 100))});
    loop_.RunFor(absl::Milliseconds(1));
    if (i % 3 == 0) demands_->Release(Owner(i % 10));
    loop_.RunReady();
  }
  ReleaseAll(10);
}

}  // namespace
}  // namespace mandate
