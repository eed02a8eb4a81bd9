#include "manager/cache/testing/model/expected_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/cache/testing/model/object_history.h"

namespace mandate::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const WatchScope kAll = {};
const WatchScope kFoo = {"foo", ""};
const WatchScope kOne = {"foo", "x"};

TEST(ExpectedStreams, OneForEachScopeThatADemanderMayRead) {
  ReadGrants grants;
  grants.Grant("a", kFoo);
  EXPECT_THAT(ExpectedStreams({{"a", kAll}, {"a", kFoo}, {"b", kFoo}, {"b", kOne}}, grants),
              ElementsAre(kFoo));
  grants.Grant("b", kOne);
  EXPECT_THAT(ExpectedStreams({{"a", kAll}, {"a", kFoo}, {"b", kFoo}, {"b", kOne}}, grants),
              ElementsAre(kFoo, kOne));
  EXPECT_THAT(ExpectedStreams({}, grants), IsEmpty());
}

TEST(ExpectedStreams, AWiderStreamServesANarrowScopeOnlyIfItServesAllDemanders) {
  const StreamPolicy policy = {.close_covered = true};
  ReadGrants grants;
  grants.Grant("a", kAll);
  grants.Grant("b", kFoo);
  EXPECT_THAT(ExpectedStreams({{"a", kAll}, {"a", kFoo}}, grants, policy), ElementsAre(kAll));
  EXPECT_THAT(ExpectedStreams({{"a", kAll}, {"a", kFoo}, {"b", kFoo}}, grants, policy),
              ElementsAre(kAll, kFoo));
  // Not a different one for each of them.
  EXPECT_THAT(ExpectedStreams({{"a", kAll}, {"b", kFoo}, {"a", kOne}, {"b", kOne}}, grants, policy),
              ElementsAre(kAll, kFoo, kOne));
  // A wider demand that is denied serves nothing.
  EXPECT_THAT(ExpectedStreams({{"b", kAll}, {"b", kFoo}}, grants, policy), ElementsAre(kFoo));
}

TEST(ExpectedStreams, SelectorsHaveStreamsOnlyIfTheServerSelects) {
  ReadGrants grants;
  grants.Grant("a", kFoo);
  const WatchScope red = {"foo", "", "color=red"};
  EXPECT_THAT(ExpectedStreams({{"a", red}, {"a", kFoo}}, grants), ElementsAre(kFoo));
  EXPECT_THAT(ExpectedStreams({{"a", red}, {"a", kFoo}}, grants, {.server_selectors = true}),
              ElementsAre(kFoo, red));
  EXPECT_THAT(ExpectedStreams({{"a", red}, {"a", kFoo}}, grants,
                              {.close_covered = true, .server_selectors = true}),
              ElementsAre(kFoo));
}

TEST(WatchScope, IsThatOfTheRequest) {
  const std::string root = "/apis/example.com/v1/";
  EXPECT_EQ(ScopeOfTarget(root + "widgets?watch=true"), kAll);
  EXPECT_EQ(ScopeOfTarget(root + "namespaces/foo/widgets"), kFoo);
  EXPECT_EQ(ScopeOfTarget(root + "namespaces/foo/widgets?fieldSelector=metadata.name%3Dx"), kOne);
  EXPECT_EQ(ScopeOfTarget("/api/v1/pods"), std::nullopt);
  for (const WatchScope& scope : {kAll, kFoo, kOne}) {
    EXPECT_EQ(ParseScope(scope.ToString()), scope);
  }
}

TEST(ReadGrants, RememberSinceWhenAScopeIsLost) {
  const absl::Time now = absl::FromUnixSeconds(1);
  ReadGrants grants;
  grants.Grant("a", kFoo);
  grants.Grant("a", kOne);
  grants.Revoke("a", kFoo, now, {kAll, kFoo, kOne});
  EXPECT_EQ(grants.LostAt("a", kFoo), now);
  EXPECT_EQ(grants.LostAt("a", kOne), absl::InfiniteFuture());
  EXPECT_TRUE(grants.Allows("a", kOne));
  grants.Grant("a", kAll);
  EXPECT_EQ(grants.LostAt("a", kFoo), absl::InfiniteFuture());
  EXPECT_FALSE(grants.Allows("b", kOne));
}

TEST(ObjectHistory, TellsWhenAnObjectWasAbsent) {
  const ObjectKey key = {"foo", "x"};
  ObjectHistory history;
  EXPECT_TRUE(history.WasAbsentSince(key, 0));
  history.Put(key, 10, {{"color", "red"}});
  EXPECT_TRUE(history.WasAbsentSince(key, 9));
  EXPECT_FALSE(history.WasAbsentSince(key, 10));
  history.Delete(key, 20);
  history.Put(key, 30, {});
  EXPECT_TRUE(history.WasAbsentSince(key, 10));
  EXPECT_TRUE(history.WasAbsentSince(key, 29));
  EXPECT_FALSE(history.WasAbsentSince(key, 30));
  EXPECT_NE(history.At(key, 10)->uid, history.At(key, 30)->uid);
  EXPECT_EQ(history.At(key, 20), nullptr);
  EXPECT_THAT(history.Of(kFoo), ElementsAre(std::pair(key, 30)));
  EXPECT_THAT(history.Of({"foo", "", "color=red"}), IsEmpty());
}

}  // namespace
}  // namespace mandate::model
