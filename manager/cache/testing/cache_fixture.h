// A cache with components on the double of an API server.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/recording_sink.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/cache/testing/widget_server.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {

// The mandate of a component that reads every widget.
inline constexpr std::array<std::string_view, 2> kReadVerbs = {"list", "watch"};
inline constexpr std::array<std::string_view, 1> kWidgetGroups = {kWidget.group};
inline constexpr std::array<std::string_view, 1> kWidgetPlurals = {kWidget.plural};
inline constexpr std::array<rbac::MandateRule, 1> kReadWidgets = {
    {{{kReadVerbs, kWidgetGroups, kWidgetPlurals, {}, {}}, "", false}}};
inline constexpr rbac::Mandate kReader = {"reader", kReadWidgets};

// One demand and its sink.
struct Demanded {
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
  std::unique_ptr<DemandHandle> handle;

  DemandState state() const { return handle->status().state; }
  std::string Take() { return sink->Take(); }
};

class CacheFixture : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const auto& sink : sinks_) {
      for (const std::string& violation : sink->violations()) ADD_FAILURE() << violation;
    }
  }
  // With `options_`. Add() does this for the first component.
  void Create() {
    auto cache = Cache::Create(options_);
    ASSERT_TRUE(cache.ok()) << cache.status();
    cache_ = *std::move(cache);
  }
  CacheView& Add(FakeRestClient& client, const rbac::Mandate& mandate = kReader) {
    if (cache_ == nullptr) Create();
    server_.Serve(client);
    return cache_->AddComponent(client, mandate);
  }
  Demanded DemandFor(CacheView& view, const DemandSpec& spec) {
    Demanded demanded;
    sinks_.push_back(demanded.sink);
    demanded.handle = view.Demand(spec, demanded.sink);
    return demanded;
  }
  Demanded Demand(CacheView& view, std::string ns = "", std::string name = "") {
    return DemandFor(view, {kWidget, std::move(ns), std::move(name)});
  }
  Demanded DemandSelected(CacheView& view, std::string ns, std::string labels) {
    return DemandFor(view, {kWidget, std::move(ns), "", std::move(labels)});
  }
  // The component may read everything.
  CacheView& AddGranted(FakeRestClient& client) {
    server_.Grant(std::string(client.component()));
    return Add(client);
  }
  // Runs all ready tasks, and those that the poke interval holds back.
  void Settle() { loop_.RunFor(absl::Seconds(2)); }
  Demanded DemandAndSettle(CacheView& view, std::string ns = "", std::string name = "") {
    Demanded demanded = Demand(view, std::move(ns), std::move(name));
    Settle();
    return demanded;
  }
  void PutAndSettle(const std::string& key) {
    server_.Put(key);
    Settle();
  }
  // Ends a demand.
  void Leave(Demanded& demanded) {
    demanded.handle.reset();
    Settle();
  }
  void RetryAndSettle(std::string_view component = "") {
    cache_->RecheckAccess(component);
    Settle();
  }
  // The server accepts no list and no watch, and ends open watches at their next event.
  void BreakServer() {
    server_.faults().refuse_watch = 1;
    server_.faults().refuse_list = 1;
    server_.faults().cut = 1;
  }
  // Each watch of the client ends at once, with this error.
  static void EndWatches(FakeRestClient& client,
                         absl::Status why = absl::UnavailableError("connection refused")) {
    client.OnWatch([why](const std::shared_ptr<FakeWatch>& watch) { watch->Close(why); });
  }
  // The same, also for other requests.
  static void EndRequests(FakeRestClient& client, const absl::Status& why) {
    EndWatches(client, why);
    client.Handle([why](const RestRequest&) -> absl::StatusOr<HttpResponse> { return why; });
  }

  double Gauge(const std::string& name, const Labels& labels) {
    return metrics_.Gauge(name, "", labels).Value();
  }

  SimulatedLoop loop_;
  Metrics metrics_;
  WidgetServer server_{loop_, 1};
  FakeRestClient a_{loop_, "a"};
  FakeRestClient b_{loop_, "b"};
  FakeRestClient c_{loop_, "c"};
  Cache::Options options_{.loop = loop_, .metrics = metrics_, .seed = 1};
  std::unique_ptr<Cache> cache_;

 private:
  std::vector<std::shared_ptr<RecordingSink>> sinks_;  // of all demands
};

inline constexpr const char* kReviews = "selfsubjectaccessreviews";

// Components with the same demand.
class SharingFixture : public CacheFixture {
 protected:
  void SetUp() override {
    server_.Put("foo/x");
    CreateAndAdd();
  }
  void CreateAndAdd() {
    Create();
    view_a_ = &Add(a_);
    view_b_ = &Add(b_);
  }
  void GrantBoth() {
    server_.Grant("a");
    server_.Grant("b");
  }
  // Both are synced, on one watch that runs as a.
  void JoinBoth() {
    GrantBoth();
    of_a_ = DemandAndSettle(*view_a_);
    of_b_ = DemandAndSettle(*view_b_);
    ASSERT_EQ(of_a_.Take(), "!+foo/x@101 Synced");
    ASSERT_EQ(of_b_.Take(), "!+foo/x@101 Synced");
    ASSERT_EQ(server_.live_watches(), 1u);
  }
  // A third component, which joins after both.
  void JoinAll() {
    view_c_ = &AddGranted(c_);
    JoinBoth();
    of_c_ = DemandAndSettle(*view_c_);
  }
  bool Reads(CacheView& view) { return view.GetRaw({}, kWidget, {"foo", "x"}).ok(); }
  absl::StatusCode Code(CacheView& view) {
    return view.GetRaw({}, kWidget, {"foo", "x"}).status().code();
  }
  static void CloseWatch(FakeRestClient& client) { client.watches().back()->Close(); }
  // Each watch of a and b ends at once, with this error. Forgets their former requests.
  void EndWatchesOfBoth(const absl::Status& why = absl::UnavailableError("connection refused")) {
    for (FakeRestClient* client : {&a_, &b_}) {
      EndWatches(*client, why);
      client->ForgetRequests();
    }
  }

  CacheView* view_a_ = nullptr;
  CacheView* view_b_ = nullptr;
  CacheView* view_c_ = nullptr;
  Demanded of_a_;
  Demanded of_b_;
  Demanded of_c_;
};

}  // namespace mandate
