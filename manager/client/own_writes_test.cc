#include "manager/client/own_writes.h"

#include <gtest/gtest.h>

#include <thread>

#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr KindInfo kWidget = {"example.com", "v1", "Widget", "widgets"};
constexpr KindInfo kGadget = {"example.com", "v1", "Gadget", "gadgets"};

// "a/x@7", "a/x@7-uid", "a/x-uid".
std::string Text(const std::vector<OwnWrite>& writes) {
  std::string text;
  for (const OwnWrite& w : writes) {
    StrAppend(&text, text.empty() ? "" : " ", w.key.ToString(),
              w.resource_version.empty() ? "" : "@", w.resource_version, w.gone.empty() ? "" : "-",
              w.gone);
  }
  return text;
}

class OwnWritesTest : public testing::Test {
 protected:
  std::string Pending(std::string_view ns = "", std::string_view name = "") {
    return Text(writes_.Pending(kWidget, ns, name));
  }
  void Wrote(const char* ns, const char* name, std::string_view version) {
    writes_.Wrote(kWidget, {ns, name}, version);
  }
  void Deleted(const char* ns, const char* name, std::string_view uid) {
    writes_.Deleted(kWidget, {ns, name}, uid);
  }

  OwnWrites writes_;
};

TEST_F(OwnWritesTest, AreFoundByScope) {
  EXPECT_FALSE(writes_.MayHave(kWidget));
  Wrote("a", "x", "7");
  Wrote("a", "y", "8");
  Wrote("b", "x", "9");
  Wrote("", "z", "6");
  EXPECT_TRUE(writes_.MayHave(kWidget));
  EXPECT_EQ(Pending(), "z@6 a/x@7 a/y@8 b/x@9");
  EXPECT_EQ(Pending("a"), "a/x@7 a/y@8");
  EXPECT_EQ(Pending("a", "y"), "a/y@8");
  EXPECT_EQ(Pending("", "z"), "z@6");
  EXPECT_EQ(Pending("c"), "");
  EXPECT_EQ(Pending("a", "z"), "");
  EXPECT_EQ(Text(writes_.Pending(kGadget, "", "")), "");
  EXPECT_FALSE(writes_.MayHave(kGadget));
}

TEST_F(OwnWritesTest, OfOneObjectAreMerged) {
  struct Step {
    const char* version;  // or null
    const char* uid;
    const char* pending;
  };
  const Step kSteps[] = {
      {"99", nullptr, "a/x@99"},
      {"101", nullptr, "a/x@101"},  // numbers, not texts
      {"100", nullptr, "a/x@101"},  // an older answer that came late
      {"18446744073709551616", nullptr, "a/x@18446744073709551616"},
      {"", nullptr, "a/x@18446744073709551616"},  // what is no number cannot be waited for
      {"1e99", nullptr, "a/x@18446744073709551616"},
      {"00", nullptr, "a/x@18446744073709551616"},
      {nullptr, "u", "a/x@18446744073709551616-u"},  // a deletion, of what may not be seen yet
      {nullptr, "", "a/x@18446744073709551616-u"},
      {"18446744073709551617", nullptr, "a/x@18446744073709551617-u"},
      {nullptr, "v", "a/x@18446744073709551617-v"},
  };
  for (const Step& step : kSteps) {
    if (step.version != nullptr) {
      Wrote("a", "x", step.version);
    } else {
      Deleted("a", "x", step.uid);
    }
    EXPECT_EQ(Pending(), step.pending);
  }
}

TEST_F(OwnWritesTest, ForgetsSeenWrites) {
  Wrote("a", "x", "7");
  Deleted("a", "y", "u");
  const auto seen = writes_.Pending(kWidget, "", "");
  Wrote("a", "x", "8");
  Wrote("a", "z", "9");
  writes_.Forget(kWidget, seen);
  EXPECT_EQ(Pending(), "a/x@8 a/z@9") << "x was written again meanwhile";
  writes_.Forget(kWidget, seen);
  writes_.Forget(kGadget, seen);
  EXPECT_TRUE(writes_.MayHave(kWidget));
  writes_.Forget(kWidget, writes_.Pending(kWidget, "", ""));
  EXPECT_EQ(Pending(), "");
  EXPECT_FALSE(writes_.MayHave(kWidget));
}

TEST_F(OwnWritesTest, AreBounded) {
  Metrics metrics;
  prometheus::Counter& forgotten = metrics.Counter("forgotten", "", {});
  writes_.Limit(3, &forgotten);
  for (const char* name : {"a", "b", "c", "a", "d"}) Wrote("n", name, "1");
  EXPECT_EQ(Pending(), "n/a@1 n/c@1 n/d@1") << "b was the oldest";
  EXPECT_EQ(forgotten.Value(), 1);
  writes_.Wrote(kGadget, {"n", "a"}, "1");
  EXPECT_EQ(forgotten.Value(), 1) << "the bound is of one kind";
  writes_.Forget(kWidget, writes_.Pending(kWidget, "", ""));
  EXPECT_FALSE(writes_.MayHave(kWidget));
  EXPECT_TRUE(writes_.MayHave(kGadget));
  for (const char* name : {"e", "f", "g", "h"}) Wrote("n", name, "1");
  EXPECT_EQ(Pending(), "n/f@1 n/g@1 n/h@1") << "what was seen is not the oldest";
}

TEST_F(OwnWritesTest, FromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 1; i <= 500; ++i) {
        const ObjectKey key = {StrCat("n", t % 2), StrCat(i % 10)};
        writes_.Wrote(kWidget, key, StrCat(i));
        if (i % 7 == 0) writes_.Deleted(kWidget, key, StrCat("u", i));
        if (writes_.MayHave(kWidget)) writes_.Forget(kWidget, writes_.Pending(kWidget, key.ns, ""));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  writes_.Forget(kWidget, writes_.Pending(kWidget, "", ""));
  EXPECT_EQ(Pending(), "");
  EXPECT_FALSE(writes_.MayHave(kWidget));
}

}  // namespace
}  // namespace mandate
