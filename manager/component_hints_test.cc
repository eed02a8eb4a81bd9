#include "manager/component_hints.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/cache/testing/cache_fixture.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ComponentHintsTest : public CacheFixture {
 protected:
  ComponentHintsTest() { Create(); }
};

TEST_F(ComponentHintsTest, FindsTheComponentsOfSubjects) {
  ComponentHints hints(*cache_);
  hints.Add("one", "system:serviceaccount:system:mandate-manager-one");
  hints.Add("two", "system:serviceaccount:system:mandate-manager-two");
  hints.Add("certificate", "somebody");
  hints.Add("unknown", "");
  const auto of = [&](rbac::Subject subject, std::string_view ns = "foo") {
    return hints.ComponentsOf({{"User", "", "a stranger", ""}, std::move(subject)}, ns);
  };
  EXPECT_THAT(of({"ServiceAccount", "", "mandate-manager-one", "system"}), ElementsAre("one"));
  EXPECT_THAT(of({"ServiceAccount", "", "mandate-manager-one", ""}), IsEmpty());
  EXPECT_THAT(of({"ServiceAccount", "", "mandate-manager-one", ""}, "system"), ElementsAre("one"));
  EXPECT_THAT(of({"User", "", "system:serviceaccount:system:mandate-manager-two", ""}),
              ElementsAre("two"));
  EXPECT_THAT(of({"Group", "", "system:serviceaccounts:system", ""}), ElementsAre("one", "two"));
  EXPECT_THAT(of({"Group", "", "system:authenticated", ""}, ""), ElementsAre("one", "two"));
  EXPECT_THAT(of({"Group", "", "system:masters", ""}), IsEmpty());
  EXPECT_THAT(of({"User", "", "somebody", ""}), IsEmpty());
  EXPECT_THAT(hints.ComponentsOf({}, ""), IsEmpty());
}

TEST_F(ComponentHintsTest, TellsTheCache) {
  CacheView& view = Add(a_);
  Demanded foo = DemandAndSettle(view, "foo");
  loop_.RunFor(absl::Minutes(10));
  server_.Grant("a", "foo");
  ComponentHints hints(*cache_);
  hints.RecheckAccess("a", "bar");
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_EQ(foo.state(), DemandState::kForbidden);
  hints.RecheckAccess("a", "foo");
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_EQ(foo.state(), DemandState::kSynced);
}

// What was proven since needs no review.
TEST_F(ComponentHintsTest, RemindsOfWhatWasProvenBefore) {
  CacheView& view = Add(a_);
  for (const char* ns : {"foo", "bar"}) server_.Grant("a", ns);
  Demanded foo = DemandAndSettle(view, "foo");
  const absl::Time between = loop_.clock().TimeNow();
  Demanded bar = DemandAndSettle(view, "bar");
  ComponentHints hints(*cache_);
  server_.Revoke("a", "foo");
  server_.Revoke("a", "bar");
  hints.RecheckAll(between);
  Settle();
  EXPECT_EQ(foo.state(), DemandState::kForbidden);
  EXPECT_EQ(bar.state(), DemandState::kSynced);
  hints.RecheckAll(loop_.clock().TimeNow());
  Settle();
  EXPECT_EQ(bar.state(), DemandState::kForbidden);
}

}  // namespace
}  // namespace mandate
