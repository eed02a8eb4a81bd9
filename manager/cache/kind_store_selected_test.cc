// Scopes with a label selector, and stores that the watch of a wider scope keeps.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/kind_store.h"
#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

class Heard : public KindStore::Listener {
 public:
  void OnObjects(const std::vector<ObjectEvent>& events) override { text += Text(events); }
  void OnReplaced(const std::shared_ptr<const ObjectSet>& before) override {
    text += "before: " + Text(*before);
  }
  std::string Take() { return std::exchange(text, ""); }

  std::string text;
};

struct Watch {
  std::string Content() const { return Text(stream->store()->List()); }
  std::string List(const std::vector<ObjectPtr>& objects, int version) {
    return Text(stream->Replace(ContentOf(objects), std::to_string(version), 1000).events);
  }
  void MoveTo(int version) { stream->SetResourceVersion(std::to_string(version)); }

  Heard heard;
  std::unique_ptr<KindStore::Stream> stream;
};

class KindStoreSelectedTest : public testing::Test {
 protected:
  std::unique_ptr<Watch> Open(const std::string& ns, const std::string& labels = "") {
    auto watch = std::make_unique<Watch>();
    watch->stream = kind_.Open({kWidget, ns, "", labels}, watch->heard, 100);
    return watch;
  }
  static ObjectPtr Web(std::string_view key, int version) {
    return Widget(key, version, "", "app=web");
  }

  KindStore kind_{kWidget};
};

TEST_F(KindStoreSelectedTest, AnObjectEntersAndLeavesWithItsLabels) {
  const auto all = Open(""), web = Open("a", "app=web");
  all->List({}, 1);
  web->List({}, 1);
  all->stream->Put(Widget("a/x", 2));
  EXPECT_EQ(web->heard.Take(), "");
  all->stream->Put(Web("a/x", 3));
  EXPECT_EQ(web->heard.Take(), "+a/x@3");
  all->stream->Put(Web("b/x", 4));
  EXPECT_EQ(web->heard.Take(), "") << "another namespace";
  all->stream->Put(Widget("a/x", 5));
  EXPECT_EQ(web->heard.Take(), "-a/x@3");
  EXPECT_EQ(web->Content(), "");

  EXPECT_EQ(Text(web->stream->Put(Web("a/x", 3))), "") << "its own watch is behind";
  EXPECT_EQ(all->Content(), "a/x@5 b/x@4");
}

TEST_F(KindStoreSelectedTest, AnObjectLeavesAlsoIfItCameWithMany) {
  const auto all = Open("");
  auto web = std::make_unique<Watch>();
  web->stream = kind_.Open({kWidget, "a", "", "app=web"}, web->heard, /*most_events=*/1);
  all->List({}, 1);
  web->List({}, 1);
  all->List({Web("a/x", 2), Web("a/y", 3)}, 3);
  EXPECT_EQ(web->heard.Take(), "before: ");
  EXPECT_EQ(web->Content(), "a/x@2 a/y@3");
  all->stream->Put(Widget("a/x", 4));
  EXPECT_EQ(web->heard.Take(), "-a/x@2");
  EXPECT_EQ(web->Content(), "a/y@3");
}

TEST_F(KindStoreSelectedTest, WhatASelectorLosesMayStillExist) {
  const auto all = Open(""), web = Open("a", "app=web");
  all->List({Web("a/x", 1)}, 1);
  web->List({Web("a/x", 1)}, 1);
  EXPECT_EQ(Text(web->stream->Remove(Web("a/x", 2))), "-a/x@2");
  web->MoveTo(2);
  EXPECT_EQ(all->heard.Take(), "");
  EXPECT_EQ(all->Content(), "a/x@1");
  EXPECT_EQ(Text(all->stream->Put(Widget("a/x", 2))), "~a/x@2");
  EXPECT_EQ(web->heard.Take(), "");

  // An object that a watch without a selector deletes is deleted everywhere.
  EXPECT_EQ(Text(web->stream->Put(Web("a/x", 3))), "+a/x@3");
  EXPECT_EQ(all->heard.Take(), "~a/x@3");
  EXPECT_EQ(Text(all->stream->Remove(Web("a/x", 4))), "-a/x@4");
  EXPECT_EQ(web->heard.Take(), "-a/x@4");
}

TEST_F(KindStoreSelectedTest, AnOlderVersionDoesNotReturnToASelector) {
  const auto web = Open("a", "app=web"), others = Open("a", "!app");
  web->List({Web("a/x", 1)}, 1);
  others->List({}, 1);
  others->stream->Put(Widget("a/x", 5));
  EXPECT_EQ(web->heard.Take(), "-a/x@1");
  others->stream->Remove(Widget("a/x", 6));
  others->MoveTo(6);
  EXPECT_EQ(Text(web->stream->Put(Web("a/x", 3))), "") << "it had other labels at 5";
  EXPECT_EQ(web->List({Web("a/x", 3)}, 4), "");
  web->MoveTo(5);
  EXPECT_EQ(Text(web->stream->Put(Web("a/x", 6))), "+a/x@6");
}

// Another watch with a selector had a newer version, and has lost it since.
TEST_F(KindStoreSelectedTest, WhatWasNotTakenOverDoesNotReturnInAnOlderVersion) {
  for (const bool is_listed : {false, true}) {
    const auto web = Open("a", "app=web"), others = Open("a", "!app");
    web->List({}, 1);
    others->List({}, 1);
    others->stream->Put(Widget("a/x", 5));
    if (is_listed) {
      EXPECT_EQ(web->List({Web("a/x", 2)}, 2), "");
    } else {
      EXPECT_EQ(Text(web->stream->Put(Web("a/x", 2))), "");
    }
    others->stream->Remove(Widget("a/x", 6));
    others->MoveTo(6);
    EXPECT_EQ(Text(web->stream->Put(Web("a/x", 3))), "") << "it was absent already";
    EXPECT_EQ(Text(web->stream->Put(Web("a/x", 6))), "+a/x@6");
  }
}

TEST_F(KindStoreSelectedTest, AWiderWatchKeepsANarrowerStore) {
  const auto all = Open(""), in_a = Open("a"), web = Open("a", "app=web");
  all->List({Web("a/x", 1), Widget("a/y", 2), Widget("b/z", 3)}, 3);
  for (Watch* watch : {in_a.get(), web.get()}) {
    ASSERT_TRUE(watch->stream->CanFollow(*all->stream));
    watch->heard.text = Text(watch->stream->Follow(*all->stream).events);
  }
  EXPECT_EQ(in_a->heard.Take(), "+a/x@1 +a/y@2");
  EXPECT_EQ(web->heard.Take(), "+a/x@1");
  all->stream->Put(Web("a/y", 4));
  all->stream->Remove(Web("a/x", 5));
  all->MoveTo(9);
  EXPECT_EQ(in_a->heard.Take(), "~a/y@4-a/x@5");
  EXPECT_EQ(web->heard.Take(), "+a/y@4-a/x@5");
  EXPECT_TRUE(web->stream->store()->HasReached("9"));
  EXPECT_FALSE(in_a->stream->CanFollow(*web->stream)) << "it follows another one";

  // Its own watch goes on from there.
  in_a->stream->Unfollow();
  all->MoveTo(12);
  EXPECT_EQ(in_a->stream->store()->resource_version(), "9");
  EXPECT_EQ(in_a->Content(), "a/y@4");
}

TEST_F(KindStoreSelectedTest, OnlyAnOlderStoreCanFollow) {
  const auto all = Open(""), in_a = Open("a");
  EXPECT_FALSE(in_a->stream->CanFollow(*all->stream)) << "not filled";
  all->List({}, 5);
  in_a->List({}, 6);
  EXPECT_FALSE(in_a->stream->CanFollow(*all->stream));
  all->MoveTo(6);
  EXPECT_TRUE(in_a->stream->CanFollow(*all->stream));
  all->stream->SetResourceVersion("not-a-number");
  EXPECT_FALSE(in_a->stream->CanFollow(*all->stream)) << "versions without an order";
}

}  // namespace
}  // namespace mandate
