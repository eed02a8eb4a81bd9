// Indexes through the views of components. They show exactly what lists show.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"

namespace mandate {
namespace {

using Values = std::vector<std::string>;

class IndexViewTest : public CacheFixture {
 protected:
  // A component with an index of the widgets by the first letter of their names.
  CacheView& AddIndexed(FakeRestClient& client) {
    server_.Grant(std::string(client.component()));
    CacheView& view = Add(client);
    EXPECT_TRUE(view.IndexField(kWidget, "letter", FirstLetter).ok());
    return view;
  }
  static Values FirstLetter(const RawObject& object) {
    return {std::string(object.name().substr(0, 1))};
  }
  static std::string By(CacheView& view, std::string_view letter, std::string_view ns = "",
                        const CallContext& context = {}) {
    const auto list = view.ListRawByIndex(context, kWidget, {"letter", letter, ns});
    return list.ok() ? Text(*list) : absl::StatusCodeToString(list.status().code());
  }
  static std::string LastKnownBy(CacheView& view, std::string_view letter) {
    return Text(view.ListLastKnownByIndex(kWidget, {"letter", letter}));
  }
};

TEST_F(IndexViewTest, FindsObjectsThatItsDemandsCover) {
  for (const char* key : {"foo/ax", "foo/bx", "bar/ay"}) server_.Put(key);
  CacheView& view = AddIndexed(a_);
  EXPECT_EQ(By(view, "a"), "FAILED_PRECONDITION") << "no demand";
  Demanded foo = Demand(view, "foo");
  EXPECT_EQ(By(view, "a", "foo"), "UNAVAILABLE") << "not synced yet";
  EXPECT_EQ(LastKnownBy(view, "a"), "");
  Settle();
  EXPECT_EQ(By(view, "a", "foo"), "foo/ax@101");
  EXPECT_EQ(By(view, "a"), "FAILED_PRECONDITION") << "foo is not everything";
  Demanded all = DemandAndSettle(view);
  EXPECT_EQ(By(view, "a"), "bar/ay@103 foo/ax@101");
  EXPECT_EQ(By(view, "a", "bar"), "bar/ay@103");
  EXPECT_EQ(By(view, "c"), "");
  server_.Delete("foo/ax");
  PutAndSettle("foo/ay");
  EXPECT_EQ(By(view, "a", "foo"), "foo/ay@105");
  EXPECT_EQ(LastKnownBy(view, "a"), "bar/ay@103 foo/ay@105");
}

TEST_F(IndexViewTest, IsDeclaredOnceAndBeforeTheFirstDemand) {
  server_.Put("foo/ax");
  CacheView& view = AddIndexed(a_);
  EXPECT_EQ(view.IndexField(kWidget, "letter", FirstLetter).code(),
            absl::StatusCode::kAlreadyExists);
  Demanded demand = Demand(view);
  const absl::Status late = view.IndexField(kWidget, "other", FirstLetter);
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(late.message().find("index other of widgets.example.com"), std::string::npos) << late;
  Settle();
  const absl::Status none = view.ListRawByIndex({}, kWidget, {"other", "a"}).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(none.message().find("a has no index other of widgets.example.com"), std::string::npos)
      << none;
  EXPECT_EQ(Text(view.ListLastKnownByIndex(kWidget, {"other", "z"})), "foo/ax@101")
      << "may concern";
}

TEST_F(IndexViewTest, EachComponentSeesItsOwnIndexWithinItsOwnAccess) {
  server_.Put("foo/ax");
  CacheView& first = AddIndexed(a_);
  Demanded of_a = DemandAndSettle(first);
  // The store is full when the second component joins, which extracts the same field differently.
  CacheView& second = AddGranted(b_);
  ASSERT_TRUE(second
                  .IndexField(kWidget, "letter",
                              [](const RawObject& object) {
                                return Values{std::string(object.name().substr(1, 1))};
                              })
                  .ok());
  Demanded of_b = Demand(second);
  EXPECT_EQ(By(second, "x"), "UNAVAILABLE") << "no borrowed read";
  Settle();
  EXPECT_EQ(By(first, "a"), "foo/ax@101");
  EXPECT_EQ(By(first, "x"), "");
  EXPECT_EQ(By(second, "a"), "");
  EXPECT_EQ(By(second, "x"), "foo/ax@101");
  server_.Revoke("b");
  RetryAndSettle("b");
  EXPECT_EQ(By(second, "x"), "PERMISSION_DENIED");
  EXPECT_EQ(LastKnownBy(second, "x"), "");
  EXPECT_EQ(By(first, "a"), "foo/ax@101");
  // The index has the changes of the meantime when the component may read again.
  server_.Put("foo/bx");
  server_.Grant("b");
  RetryAndSettle("b");
  EXPECT_EQ(By(second, "x"), "foo/ax@101 foo/bx@102");
}

TEST_F(IndexViewTest, WhileStaleOnlyTheLastKnownIsListed) {
  server_.Put("foo/ax");
  CacheView& view = AddIndexed(a_);
  Demanded demand = DemandAndSettle(view);
  server_.SetServed(false);
  server_.faults().cut = 1;
  server_.Put("foo/bx");
  loop_.RunFor(absl::Minutes(1));
  ASSERT_NE(demand.state(), DemandState::kSynced);
  EXPECT_EQ(By(view, "a"), "UNAVAILABLE");
}

TEST_F(IndexViewTest, TheLastKnownOfAnExpiredProofIsIndexed) {
  server_.Put("foo/ax");
  server_.Put("foo/bx");
  CacheView& first = AddIndexed(a_);
  CacheView& second = AddIndexed(b_);
  const Demanded of_a = DemandAndSettle(first);
  const Demanded of_b = DemandAndSettle(second);
  EndRequests(b_, absl::UnavailableError("connection refused"));
  loop_.RunFor(absl::Minutes(5));
  PutAndSettle("foo/az");
  ASSERT_EQ(of_b.state(), DemandState::kStale);
  EXPECT_EQ(LastKnownBy(second, "a"), "foo/ax@101");
  EXPECT_EQ(LastKnownBy(first, "a"), "foo/ax@101 foo/az@103");
}

TEST_F(IndexViewTest, ShowsOwnWrites) {
  CacheView& view = AddIndexed(a_);
  Demanded demand = DemandAndSettle(view);
  server_.faults().delay = absl::Seconds(2);
  a_.own_writes().Wrote(kWidget, {"foo", "ax"}, std::to_string(server_.Put("foo/ax")));
  EXPECT_EQ(By(view, "a", "foo", NonBlockingContext()), "DEADLINE_EXCEEDED");
  EXPECT_EQ(By(view, "a", "foo"), "foo/ax@101");
}

TEST_F(IndexViewTest, ALaterDemandHasTheIndexToo) {
  server_.Put("foo/ax");
  CacheView& view = AddIndexed(a_);
  for (int round = 0; round < 3; ++round) {
    Demanded demand = DemandAndSettle(view);
    EXPECT_EQ(By(view, "a"), "foo/ax@101");
  }
}

}  // namespace
}  // namespace mandate
