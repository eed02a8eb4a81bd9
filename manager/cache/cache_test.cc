#include "manager/cache/cache.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class CacheTest : public CacheFixture {
 protected:
  absl::StatusCode Get(CacheView& view, std::string ns, std::string name) {
    return view.GetRaw({}, kWidget, {std::move(ns), std::move(name)}).status().code();
  }
  absl::StatusCode List(CacheView& view, std::string_view ns) {
    return view.ListRaw({}, kWidget, ns).status().code();
  }
};

TEST_F(CacheTest, ReadsDemandedObjects) {
  server_.Put("foo/x");
  CacheView& view = AddGranted(a_);
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kFailedPrecondition) << "no demand";
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(a_.requests().size(), 0u) << "a read opens nothing";

  Demanded demand = Demand(view);
  EXPECT_EQ(demand.state(), DemandState::kPending);
  EXPECT_FALSE(demand.handle->status().reason.ok());
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kUnavailable) << "not synced yet";
  Settle();
  EXPECT_EQ(demand.state(), DemandState::kSynced);
  EXPECT_TRUE(demand.handle->status().reason.ok());
  EXPECT_EQ(demand.Take(), "!+foo/x@101 Synced");
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kOk);
  EXPECT_EQ(Get(view, "foo", "y"), absl::StatusCode::kNotFound) << "absent, for certain";
  EXPECT_EQ(Text(*view.ListRaw({}, kWidget, "")), "foo/x@101");
  EXPECT_EQ(Text(*view.ListRaw({}, kWidget, "foo")), "foo/x@101");
  EXPECT_EQ(Text(*view.ListRaw({}, kWidget, "bar")), "");

  server_.Put("foo/y");
  server_.Put("foo/x");
  server_.Delete("foo/y");
  Settle();
  EXPECT_EQ(demand.Take(), "+foo/y@102 ~foo/x@103 -foo/y@104");
  EXPECT_EQ(a_.requests().size(), 1u);
}

TEST_F(CacheTest, EachScopeAnswersForItself) {
  for (const char* key : {"foo/x", "foo/y", "bar/x", "baz/x"}) server_.Put(key);
  CacheView& view = AddGranted(a_);
  Demanded foo = Demand(view, "foo");
  Demanded one = DemandAndSettle(view, "bar", "x");
  EXPECT_EQ(foo.Take(), "!+foo/x@101 !+foo/y@102 Synced");
  EXPECT_EQ(one.Take(), "!+bar/x@103 Synced");
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kOk);
  EXPECT_EQ(Get(view, "foo", "z"), absl::StatusCode::kNotFound);
  EXPECT_EQ(Get(view, "bar", "x"), absl::StatusCode::kOk);
  EXPECT_EQ(Get(view, "bar", "y"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Get(view, "baz", "x"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(List(view, "foo"), absl::StatusCode::kOk);
  EXPECT_EQ(List(view, "bar"), absl::StatusCode::kFailedPrecondition)
      << "one object answers no list";
  EXPECT_EQ(List(view, ""), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(server_.live_watches(), 2u);
}

TEST_F(CacheTest, AForbiddenWideScopeLeavesTheNarrowOne) {
  server_.Grant("a", "foo");
  server_.Put("foo/x");
  CacheView& view = Add(a_);
  Demanded wide = Demand(view);
  Demanded narrow = DemandAndSettle(view, "foo");
  EXPECT_EQ(wide.state(), DemandState::kForbidden);
  EXPECT_EQ(narrow.state(), DemandState::kSynced);
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kOk);
  EXPECT_EQ(Get(view, "bar", "x"), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(List(view, ""), absl::StatusCode::kPermissionDenied);
}

TEST_F(CacheTest, ForbiddenNamesComponentAndResource) {
  CacheView& view = Add(a_);
  Demanded demand = DemandAndSettle(view, "foo");
  EXPECT_EQ(demand.Take(), "Forbidden");
  const absl::Status reason = demand.handle->status().reason;
  EXPECT_EQ(reason.code(), absl::StatusCode::kPermissionDenied);
  for (const char* part : {"a may not", "widgets.example.com", "namespace foo"}) {
    EXPECT_NE(reason.message().find(part), std::string::npos) << reason;
  }
  EXPECT_EQ(view.GetRaw({}, kWidget, {"foo", "x"}).status().message(), reason.message());

  server_.Put("foo/x");
  server_.Grant("a", "foo");
  RetryAndSettle("a");
  EXPECT_EQ(demand.Take(), "Pending !+foo/x@101 Synced");
}

TEST_F(CacheTest, AGrantIsNoticedWithoutAHint) {
  CacheView& view = Add(a_);
  Demanded demand = DemandAndSettle(view);
  server_.Grant("a");
  loop_.RunFor(absl::Seconds(40));
  EXPECT_EQ(demand.Take(), "Forbidden Pending Synced");
}

TEST_F(CacheTest, AnUndeclaredDemandIsRejected) {
  static constexpr rbac::Mandate kNothing = {"a", {}};
  server_.Grant("a");
  CacheView& view = Add(a_, kNothing);
  Demanded demand = Demand(view);
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kPermissionDenied) << "at once";
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(demand.Take(), "Forbidden");
  EXPECT_NE(demand.handle->status().reason.message().find(
                "+kubebuilder:rbac:groups=example.com,resources=widgets,verbs=list;watch"),
            std::string::npos);
  EXPECT_EQ(a_.requests().size(), 0u) << "nothing was sent";
  demand.handle.reset();
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CacheTest, AnAbsentKindIsWaitedFor) {
  server_.SetServed(false);
  CacheView& view = AddGranted(a_);
  Demanded demand = DemandAndSettle(view);
  EXPECT_EQ(demand.Take(), "KindAbsent");
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kUnavailable) << "not known to be absent";
  server_.SetServed(true);
  server_.Put("foo/x");
  RetryAndSettle();
  EXPECT_EQ(demand.Take(), "Pending !+foo/x@101 Synced");
}

TEST_F(CacheTest, StaleIsNotAbsent) {
  CacheView& view = AddGranted(a_);
  Demanded demand = DemandAndSettle(view);
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kNotFound);
  BreakServer();
  PutAndSettle("foo/x");
  EXPECT_EQ(demand.state(), DemandState::kStale);
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kUnavailable);
  EXPECT_EQ(List(view, "foo"), absl::StatusCode::kUnavailable);
  server_.faults() = {};
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(demand.sink->Content(), "foo/x@101");
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kOk);
}

TEST_F(CacheTest, ListsLastKnownObjectsWhileStaleOnly) {
  server_.Put("foo/x");
  CacheView& view = AddGranted(a_);
  EXPECT_TRUE(view.ListLastKnown(kWidget, "").empty()) << "no demand";
  Demanded demand = Demand(view);
  EXPECT_TRUE(view.ListLastKnown(kWidget, "").empty()) << "not synced";
  Settle();
  EXPECT_EQ(view.ListLastKnown(kWidget, "").size(), 1u);
  BreakServer();
  PutAndSettle("foo/y");
  ASSERT_EQ(demand.state(), DemandState::kStale);
  EXPECT_GE(view.ListLastKnown(kWidget, "foo").size(), 1u);
  EXPECT_TRUE(view.ListLastKnown(kWidget, "bar").empty());
  server_.faults() = {};
  server_.Revoke("a");
  cache_->RecheckAccess();
  loop_.RunFor(absl::Minutes(12));
  ASSERT_EQ(demand.state(), DemandState::kForbidden);
  EXPECT_TRUE(view.ListLastKnown(kWidget, "").empty());
}

TEST_F(CacheTest, OneObjectIsKnownToADemandForItAlone) {
  server_.Put("foo/x");
  CacheView& view = AddGranted(a_);
  EXPECT_EQ(view.GetLastKnown(kWidget, {"foo", "x"}), nullptr) << "no demand";
  Demanded demand = Demand(view, "foo", "x");
  EXPECT_EQ(view.GetLastKnown(kWidget, {"foo", "x"}), nullptr) << "not synced";
  Settle();
  ASSERT_NE(view.GetLastKnown(kWidget, {"foo", "x"}), nullptr);
  EXPECT_EQ(view.GetLastKnown(kWidget, {"foo", "x"})->name(), "x");
  EXPECT_EQ(view.GetLastKnown(kWidget, {"foo", "y"}), nullptr);
  server_.Delete("foo/x");
  Settle();
  EXPECT_EQ(view.GetLastKnown(kWidget, {"foo", "x"}), nullptr) << "absent";
  Demanded all = Demand(view);
  PutAndSettle("foo/x");
  EXPECT_NE(view.GetLastKnown(kWidget, {"foo", "x"}), nullptr);
  EXPECT_EQ(view.GetLastKnown(kWidget, {"bar", "x"}), nullptr);
  server_.Revoke("a");
  cache_->RecheckAccess();
  loop_.RunFor(absl::Minutes(12));
  EXPECT_EQ(view.GetLastKnown(kWidget, {"foo", "x"}), nullptr) << "forbidden";
}

// The hint reaches the namespace's watches of every kind and component, and no others.
TEST_F(CacheTest, AHintForANamespaceIsFollowedThere) {
  CacheView& view = Add(a_);
  Demanded foo = Demand(view, "foo");
  Demanded bar = DemandAndSettle(view, "bar");
  loop_.RunFor(absl::Minutes(10));
  ASSERT_EQ(foo.state(), DemandState::kForbidden);
  server_.Grant("a", "foo");
  server_.Grant("a", "bar");
  cache_->RecheckAccess("", "foo");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(foo.state(), DemandState::kSynced);
  EXPECT_EQ(bar.state(), DemandState::kForbidden);
  loop_.RunFor(absl::Seconds(58));
  EXPECT_EQ(bar.state(), DemandState::kSynced) << "without a hint within a minute";

  // A revocation is noticed by the hint, although the watch stays open.
  server_.Revoke("a", "foo");
  server_.Revoke("a", "bar");
  cache_->RecheckAccess("", "foo");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(foo.state(), DemandState::kForbidden);
  EXPECT_EQ(bar.state(), DemandState::kSynced);
}

// Each turn of the loop reaches a few watches.
TEST_F(CacheTest, AHintReachesEachOfManyWatches) {
  options_.max_watches_per_loop_turn = 2;
  CacheView& view = AddGranted(a_);
  std::vector<Demanded> demands;
  for (int i = 0; i < 9; ++i) demands.push_back(Demand(view, "foo", StrCat("n", i)));
  loop_.RunFor(absl::Minutes(1));
  for (const Demanded& one : demands) ASSERT_EQ(one.state(), DemandState::kSynced);
  server_.Revoke("a");
  RetryAndSettle();
  for (const Demanded& one : demands) EXPECT_EQ(one.state(), DemandState::kForbidden);
}

// The hint for one component in one namespace costs the others nothing.
TEST_F(CacheTest, AHintForAComponentInANamespaceConcernsNoOther) {
  CacheView& a = Add(a_);
  CacheView& b = Add(b_);
  server_.Grant("a", "foo");
  server_.Grant("b", "foo");
  server_.Grant("a", "bar");
  Demanded a_foo = DemandAndSettle(a, "foo"), a_bar = DemandAndSettle(a, "bar");
  Demanded b_foo = DemandAndSettle(b, "foo");
  loop_.RunFor(absl::Minutes(1));
  server_.Revoke("a", "foo");
  server_.Revoke("a", "bar");
  const size_t requests = b_.requests().size();
  cache_->RecheckAccess("a", "foo");
  loop_.RunFor(absl::Milliseconds(300));
  EXPECT_EQ(a_foo.state(), DemandState::kForbidden);
  EXPECT_EQ(a_bar.state(), DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(b_foo.state(), DemandState::kSynced);
  EXPECT_LE(b_.requests().size(), requests + 1) << "it may have become the sponsor";
}

TEST_F(CacheTest, TheLastDemandClosesTheWatch) {
  CacheView& view = AddGranted(a_);
  Demanded first = Demand(view);
  Demanded second = DemandAndSettle(view);
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(Gauge("mandate_cache_demands", {{"identity", "a"}}), 2);
  Leave(first);
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kNotFound);
  second.handle.reset();
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kFailedPrecondition) << "at once";
  Settle();
  EXPECT_EQ(server_.live_watches(), 0u);
  EXPECT_EQ(Gauge("mandate_cache_demands", {{"identity", "a"}}), 0);
  EXPECT_EQ(Gauge("mandate_cache_objects", {{"kind", "widgets.example.com"}, {"scope", "cluster"}}),
            0);
  // A new demand starts without objects.
  server_.Put("foo/x");
  Demanded third = DemandAndSettle(view);
  EXPECT_EQ(third.Take(), "!+foo/x@101 Synced");
}

// A reconciler does this if it replaces its demands.
TEST_F(CacheTest, KeepsTheWatchForTheNextDemand) {
  CacheView& view = AddGranted(a_);
  Demanded first = DemandAndSettle(view);
  const size_t requests = a_.requests().size();
  first.handle.reset();
  Demanded second = Demand(view);
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kNotFound) << "still synced";
  Settle();
  EXPECT_EQ(second.Take(), "Synced");
  EXPECT_EQ(a_.requests().size(), requests);
}

TEST_F(CacheTest, AWatchLingers) {
  options_.close_unused_watch_after = absl::Seconds(30);
  server_.Put("foo/x");
  CacheView& view = AddGranted(a_);
  Demanded demand = DemandAndSettle(view);
  demand.handle.reset();
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(server_.live_watches(), 1u);
  const size_t requests = a_.requests().size();
  Demanded again = DemandAndSettle(view);
  EXPECT_EQ(again.Take(), "!+foo/x@101 Synced");
  EXPECT_EQ(a_.requests().size(), requests);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(server_.live_watches(), 1u);
  again.handle.reset();
  loop_.RunFor(absl::Seconds(31));
  EXPECT_EQ(server_.live_watches(), 0u);
}

TEST_F(CacheTest, ALateSinkGetsTheCurrentObjects) {
  server_.Put("foo/x");
  CacheView& view = AddGranted(a_);
  Demanded first = DemandAndSettle(view);
  server_.Put("foo/y");
  Demanded second = Demand(view);
  PutAndSettle("foo/z");
  EXPECT_EQ(second.sink->Content(), first.sink->Content());
  const std::string heard = second.Take();
  EXPECT_TRUE(heard.starts_with("!+foo/x@101")) << heard;
  EXPECT_NE(heard.find("Synced"), heard.npos);
}

// A sink may end demands and make new ones in any call.
TEST_F(CacheTest, SinksMayChangeDemandsInACall) {
  for (const char* key : {"foo/a", "foo/b", "foo/c"}) server_.Put(key);
  CacheView& view = AddGranted(a_);
  Demanded first = Demand(view);
  Demanded second = Demand(view);
  Demanded third;
  int calls = 0;
  first.sink->OnCall([&] {
    if (++calls != 2) return;
    second.handle.reset();
    third = Demand(view);
    first.handle.reset();
  });
  Settle();
  EXPECT_EQ(first.Take(), "!+foo/a@101 !+foo/b@102") << "nothing after its end";
  EXPECT_EQ(second.Take(), "");
  EXPECT_EQ(third.Take(), "!+foo/a@101 !+foo/b@102 !+foo/c@103 Synced");
}

// readable_scopes_test.cc tests the entries of their scopes.
TEST_F(CacheTest, ShortDemandsLeaveNoWatch) {
  CacheView& view = AddGranted(a_);
  for (int i = 0; i < 1000; ++i) {
    Demanded demand = Demand(view, "ns" + std::to_string(i));
    if (i % 3 == 0) loop_.RunFor(absl::Microseconds(1));
  }
  loop_.RunFor(absl::Seconds(10));  // Options::closes
  EXPECT_EQ(server_.live_watches(), 0u);
}

TEST_F(CacheTest, HandlesMayOutliveTheCache) {
  CacheView& view = AddGranted(a_);
  Demanded demand = DemandAndSettle(view);
  cache_.reset();
  EXPECT_EQ(server_.live_watches(), 0u);
  demand.handle.reset();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(server_.live_watches(), 0u);
}

TEST_F(CacheTest, AClusterScopedKindHasNoNamespaces) {
  CacheView& view = AddGranted(a_);
  KindInfo kind = kWidget;
  kind.scope = Scope::kCluster;
  auto handle = view.Demand({kind, "foo", ""}, nullptr);
  Settle();
  EXPECT_EQ(a_.Count("/namespaces/"), 0u);
  EXPECT_EQ(view.GetRaw({}, kind, {"", "x"}).status().code(), absl::StatusCode::kNotFound);
  a_.watches().back()->Send(EventJson("ADDED", WidgetJson("x", 200)));
  Settle();
  for (const char* ns : {"", "foo"}) {
    SCOPED_TRACE(ns);
    EXPECT_EQ(view.GetRaw({}, kind, {ns, "x"}).status(), absl::OkStatus());
    EXPECT_EQ(view.GetRaw({}, kind, {ns, "y"}).status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(view.ListRaw({}, kind, ns)->size(), 1u);
    EXPECT_EQ(view.ListLastKnown(kind, ns).size(), 1u);
  }
}

// A program may have two constants of one kind.
TEST_F(CacheTest, AKindHasOneStoreWhateverItsEncoding) {
  CacheView& view = AddGranted(a_);
  KindInfo other_encoding = kWidget;
  other_encoding.encoding = Encoding::kProtobuf;
  Demanded in_foo = DemandAndSettle(view, "foo");
  Demanded in_bar = DemandFor(view, {other_encoding, "bar", ""});
  Settle();
  Leave(in_foo);
  Settle();
  PutAndSettle("bar/y");
  EXPECT_EQ(in_bar.Take(), "Synced +bar/y@101");
  EXPECT_TRUE(view.GetRaw({}, kWidget, {"bar", "y"}).ok());
}

}  // namespace
}  // namespace mandate
