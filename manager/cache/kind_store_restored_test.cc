// A server that was restored from a backup: its versions go back, and another history follows.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/kind_store.h"
#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

class KindStoreRestoredTest : public testing::Test {
 protected:
  struct Watch : KindStore::Listener {
    void OnObjects(const std::vector<ObjectEvent>& events) override { heard += Text(events) + ";"; }
    void OnReplaced(const std::shared_ptr<const ObjectSet>& before) override {
      heard += "before: " + Text(*before) + ";";
    }
    std::string Content() const { return Text(stream->store()->List()); }

    std::unique_ptr<KindStore::Stream> stream;
    std::string heard;
  };
  using Objects = std::vector<ObjectPtr>;

  std::unique_ptr<Watch> Open(const std::string& ns, const std::string& labels = "") {
    auto watch = std::make_unique<Watch>();
    watch->stream = kind_.Open({kWidget, ns, "", labels}, *watch, 10);
    return watch;
  }
  static bool Answer(Watch& watch, const Objects& objects, int version) {
    return watch.stream->Replace(ContentOf(objects), std::to_string(version), 10).is_restored;
  }
  // A consistent read, and its answer.
  static bool List(Watch& watch, const Objects& objects, int version) {
    watch.stream->BeginRead(/*consistent=*/true);
    return Answer(watch, objects, version);
  }
  // All namespaces at version 50.
  std::unique_ptr<Watch> OpenAll() {
    auto all = Open("");
    EXPECT_FALSE(List(*all, {Widget("a/x", 8), Widget("a/y", 9), Widget("b/z", 10)}, 10));
    all->stream->Put(Widget("a/x", 50));
    all->stream->SetResourceVersion("50");
    return all;
  }

  KindStore kind_{kWidget};
};

TEST_F(KindStoreRestoredTest, AConsistentReadOfAnEarlierVersionIsTheContent) {
  const auto all = OpenAll();
  EXPECT_TRUE(List(*all, {Widget("a/x", 8), Widget("a/n", 12)}, 13));
  EXPECT_EQ(all->Content(), "a/n@12 a/x@8");
  all->stream->Put(Widget("a/x", 14));
  EXPECT_EQ(all->Content(), "a/n@12 a/x@14");
  all->stream->SetResourceVersion("14");
  EXPECT_FALSE(List(*all, {Widget("a/x", 14)}, 14)) << "it has gone back once";
}

// A server that lags behind another one may answer it.
TEST_F(KindStoreRestoredTest, AReadThatNeedNotBeConsistentProvesNothing) {
  const auto all = OpenAll();
  const auto in_a = Open("a");
  in_a->stream->BeginRead(/*consistent=*/false);
  EXPECT_FALSE(Answer(*in_a, {Widget("a/x", 8), Widget("a/y", 9)}, 13));
  EXPECT_EQ(in_a->Content(), "a/x@50 a/y@9");
}

TEST_F(KindStoreRestoredTest, VersionsAfterTheRequestProveNothing) {
  const auto all = OpenAll();
  const auto in_a = Open("a");
  in_a->stream->BeginRead(/*consistent=*/true);
  all->stream->Put(Widget("a/x", 60));
  all->stream->SetResourceVersion("60");
  EXPECT_FALSE(Answer(*in_a, {Widget("a/x", 50), Widget("a/y", 9)}, 55));
  EXPECT_EQ(in_a->Content(), "a/x@60 a/y@9");
}

TEST_F(KindStoreRestoredTest, AFirstListNoticesItToo) {
  const auto all = OpenAll();
  const auto in_a = Open("a");
  EXPECT_TRUE(List(*in_a, {Widget("a/x", 8), Widget("a/n", 12)}, 13));
  EXPECT_EQ(in_a->Content(), "a/n@12 a/x@8");
  EXPECT_EQ(all->heard, "") << "it is of another history";
}

TEST_F(KindStoreRestoredTest, HistoriesStayApartUntilEachHasReadAgain) {
  const auto all = OpenAll();
  const auto in_a = Open("a");
  ASSERT_FALSE(List(*in_a, {Widget("a/x", 50), Widget("a/y", 9)}, 50));
  ASSERT_TRUE(List(*all, {Widget("a/x", 8), Widget("a/n", 12)}, 13));
  EXPECT_EQ(in_a->Content() + in_a->heard, "a/x@50 a/y@9");
  all->stream->Put(Widget("a/x", 14));
  in_a->stream->Put(Widget("a/x", 51));
  in_a->stream->Remove(Widget("a/n", 52));
  EXPECT_EQ(all->Content(), "a/n@12 a/x@14");
  EXPECT_EQ(in_a->Content(), "a/x@51 a/y@9");
  EXPECT_FALSE(List(*in_a, {Widget("a/x", 14), Widget("a/n", 12)}, 15)) << "it was noticed before";
  EXPECT_EQ(in_a->Content(), "a/n@12 a/x@14");
  all->heard.clear();
  in_a->stream->Put(Widget("a/x", 16));
  EXPECT_EQ(all->heard, "~a/x@16;") << "they share the new history";
}

// Both requests were sent before either answer: the second one tells of the same restoration.
TEST_F(KindStoreRestoredTest, IsNoticedOnce) {
  const auto all = OpenAll();
  const auto in_a = Open("a");
  ASSERT_FALSE(List(*in_a, {Widget("a/x", 50), Widget("a/y", 9)}, 50));
  all->stream->BeginRead(true);
  in_a->stream->BeginRead(true);
  EXPECT_TRUE(Answer(*all, {Widget("a/x", 8)}, 13));
  EXPECT_FALSE(Answer(*in_a, {Widget("a/x", 8)}, 13));
  in_a->stream->Put(Widget("a/x", 14));
  EXPECT_EQ(all->Content(), "a/x@14");
}

TEST_F(KindStoreRestoredTest, FollowersComeAlong) {
  const auto all = OpenAll();
  const auto in_a = Open("a");
  const auto selected = Open("", "l=p");
  in_a->stream->Follow(*all->stream);
  selected->stream->Follow(*all->stream);
  EXPECT_TRUE(List(*all, {Widget("a/x", 8), Widget("a/n", 12, "u", "l=p"), Widget("b/m", 11)}, 13));
  EXPECT_EQ(in_a->Content(), "a/n@12 a/x@8");
  EXPECT_EQ(in_a->heard, "-a/y@9 +a/n@12 ~a/x@8;");
  EXPECT_EQ(selected->Content() + selected->heard, "a/n@12+a/n@12;");
  all->stream->Put(Widget("a/x", 14));
  EXPECT_EQ(in_a->Content(), "a/n@12 a/x@14");
  in_a->stream->Unfollow();
  selected->stream->Unfollow();
  EXPECT_EQ(in_a->stream->store()->resource_version(), "13");
}

// Its version is lower, and its history is the one of now.
TEST_F(KindStoreRestoredTest, AWatchOfTheNewHistoryCanKeepAnother) {
  const auto all = OpenAll();
  const auto in_a = Open("a");
  ASSERT_FALSE(List(*in_a, {Widget("a/x", 50), Widget("a/y", 9)}, 50));
  EXPECT_TRUE(List(*all, {Widget("a/x", 8), Widget("a/n", 12)}, 13));
  ASSERT_TRUE(in_a->stream->CanFollow(*all->stream));
  EXPECT_FALSE(all->stream->CanFollow(*in_a->stream)) << "not the other way round";
  in_a->stream->Follow(*all->stream);
  EXPECT_EQ(in_a->Content(), "a/n@12 a/x@8");
  in_a->stream->Unfollow();
}

// The notes about closed scopes belong to the old history.
TEST_F(KindStoreRestoredTest, ForgetsClosedScopes) {
  const auto all = OpenAll();
  {
    const auto in_a = Open("a");
    in_a->stream->BeginRead(true);
    Answer(*in_a, {Widget("a/x", 55)}, 60);
  }
  EXPECT_TRUE(List(*all, {Widget("a/x", 8), Widget("a/n", 12)}, 13));
  EXPECT_EQ(all->Content(), "a/n@12 a/x@8");
  all->stream->Put(Widget("a/m", 14));
  EXPECT_EQ(all->Content(), "a/m@14 a/n@12 a/x@8");
}

// Other writes have passed the old version, so nothing shows that the server went back. A list is
// still right about its own version and all earlier ones.
TEST_F(KindStoreRestoredTest, UpToItsVersionAListIsRight) {
  const auto all = OpenAll();
  const auto in_a = Open("a");
  ASSERT_FALSE(List(*in_a, {Widget("a/x", 50), Widget("a/y", 9)}, 50));
  EXPECT_FALSE(List(*all, {Widget("a/x", 8), Widget("a/n", 12)}, 60));
  EXPECT_EQ(all->Content(), "a/n@12 a/x@8");
  EXPECT_EQ(in_a->Content(), "a/n@12 a/x@8");
}

}  // namespace
}  // namespace mandate
