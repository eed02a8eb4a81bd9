#include "manager/cache/demand_feed.h"

#include <gtest/gtest.h>

#include <random>

#include "manager/cache/testing/recording_sink.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

const DemandStatus kLive = {DemandState::kSynced, absl::OkStatus()};
const DemandStatus kGone = {DemandState::kForbidden, absl::PermissionDeniedError("scripted")};
const DemandStatus kDown = {DemandState::kStale, absl::UnavailableError("scripted")};

class DemandFeedTest : public ::testing::Test {
 protected:
  // A store with foo/00, foo/01 …, and a feed that delivers two objects a turn.
  DemandFeedTest() { Create(/*slice=*/2); }
  void Create(size_t slice) {
    version_ = 0;
    store_ = std::make_shared<ObjectStore>();
    source_ = std::make_shared<const DemandFeed::Source>(
        DemandFeed::Source{.loop = loop_,
                           .store = store_,
                           .slice = slice,
                           .slices = metrics_.Counter("slices", "", {})});
    sink_ = std::make_shared<RecordingSink>();
    feed_ = std::make_shared<DemandFeed>(sink_);
  }
  // Returns what the first turn delivers.
  std::string FillAndAttach(int objects) {
    Fill(objects);
    feed_->Attach(source_, kLive);
    return sink_->Take();
  }
  void Fill(int objects) {
    for (int i = 0; i < objects; ++i) store_->Put(Widget(Name(i), ++version_));
  }
  static std::string Name(int i) { return StrCat("foo/", i / 10, i % 10); }
  void Put(const std::string& key, const std::string& uid = "") {
    feed_->Deliver(store_->Put(Widget(key, ++version_, uid)));
  }
  void Remove(const std::string& key) { feed_->Deliver(store_->Remove(Widget(key, ++version_))); }
  // Runs one turn of the loop.
  std::string Turn() {
    bool turned = false;
    loop_.Post([&] { turned = true; });
    EXPECT_TRUE(loop_.RunUntil([&] { return turned; }));
    return sink_->Take();
  }
  void TearDown() override {
    if (sink_ == nullptr) return;
    for (const std::string& violation : sink_->violations()) ADD_FAILURE() << violation;
  }

  SimulatedLoop loop_;
  Metrics metrics_;
  int version_;  // of the last change
  std::shared_ptr<ObjectStore> store_;
  std::shared_ptr<const DemandFeed::Source> source_;
  std::shared_ptr<RecordingSink> sink_;
  std::shared_ptr<DemandFeed> feed_;
};

TEST_F(DemandFeedTest, DeliversOneSliceATurnAndThenTheState) {
  EXPECT_EQ(FillAndAttach(5), "!+foo/00@1 !+foo/01@2");
  EXPECT_EQ(feed_->status().state, DemandState::kPending);
  EXPECT_EQ(Turn(), "!+foo/02@3 !+foo/03@4");
  EXPECT_EQ(Turn(), "!+foo/04@5 Synced");
  EXPECT_EQ(feed_->status().state, DemandState::kSynced);
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(sink_->Take(), "");
}

TEST_F(DemandFeedTest, OneSliceIsDeliveredAtOnce) {
  EXPECT_EQ(FillAndAttach(1), "!+foo/00@1 Synced");
}

TEST_F(DemandFeedTest, DeliversChangesBeforeTheCursorAtOnce) {
  EXPECT_EQ(FillAndAttach(5), "!+foo/00@1 !+foo/01@2");
  Put("foo/00");
  Put("foo/01x");
  Put("foo/03");
  Remove("foo/01");
  Remove("foo/02");
  EXPECT_EQ(sink_->Take(), "~foo/00@6 -foo/01@9");
  EXPECT_EQ(Turn(), "!+foo/01x@7 !+foo/03@8");
  EXPECT_EQ(Turn(), "!+foo/04@5 Synced");
  Put("foo/09");
  EXPECT_EQ(sink_->Take(), "+foo/09@11");
}

TEST_F(DemandFeedTest, AStateOtherThanSyncedIsDeliveredAtOnce) {
  Fill(3);
  feed_->Attach(source_, kLive);
  feed_->SetStatus(kDown);
  EXPECT_EQ(sink_->Take(), "!+foo/00@1 !+foo/01@2 Stale");
  EXPECT_EQ(Turn(), "!+foo/02@3");
  EXPECT_EQ(feed_->status().state, DemandState::kStale);
  feed_->SetStatus(kLive);
  EXPECT_EQ(sink_->Take(), "Synced");
}

TEST_F(DemandFeedTest, ContinuesAfterALossOfAccess) {
  Fill(5);
  feed_->Attach(source_, kLive);
  feed_->Detach(store_->Snapshot());
  feed_->SetStatus(kGone);
  EXPECT_EQ(sink_->Take(), "!+foo/00@1 !+foo/01@2 Forbidden");
  Put("foo/00");
  Remove("foo/01");
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(sink_->Take(), "");
  feed_->Attach(source_, kLive);
  EXPECT_EQ(sink_->Take(), "~foo/00@6 -foo/01@2");
  EXPECT_EQ(Turn(), "!+foo/02@3 !+foo/03@4");
  EXPECT_EQ(Turn(), "!+foo/04@5 Synced");
}

// Then all objects come as adds.
TEST_F(DemandFeedTest, APurgeForgetsWhatTheSinkHasGot) {
  Fill(3);
  feed_->Attach(source_, kLive);
  feed_->Purge(store_->Snapshot());
  feed_->SetStatus(kGone);
  EXPECT_EQ(sink_->Take(), "!+foo/00@1 !+foo/01@2 purged:2 Forbidden");
  Remove("foo/01");
  feed_->Attach(source_, kLive);
  loop_.RunReady();
  EXPECT_EQ(sink_->Take(), "!+foo/00@1 !+foo/02@3 Synced");
  feed_->Pause(store_->Snapshot());
  feed_->Purge(nullptr);
  EXPECT_EQ(sink_->Take(), "purged:2") << "a pause remembers them, too";
  feed_->Purge(nullptr);
  EXPECT_EQ(sink_->Take(), "") << "once";
  feed_->Resume();
  feed_->Attach(source_, kLive);
  loop_.RunReady();
  EXPECT_EQ(sink_->Take(), "+foo/00@1 +foo/02@3");
}

// It may be a Secret that nobody may read any more.
TEST_F(DemandFeedTest, APurgeKeepsNoObject) {
  Fill(3);
  feed_->Attach(source_, kLive);
  const std::weak_ptr<const RawObject> visited = store_->Get("foo", "01");
  feed_->Purge(store_->Snapshot());
  sink_.reset();
  source_.reset();
  store_.reset();
  EXPECT_TRUE(visited.expired());
}

TEST_F(DemandFeedTest, ContinuesAfterAPause) {
  Fill(3);
  feed_->Attach(source_, kLive);
  feed_->Pause(store_->Snapshot());
  EXPECT_EQ(sink_->Take(), "!+foo/00@1 !+foo/01@2");
  Put("foo/00");
  feed_->SetStatus(kDown);
  feed_->Attach(source_, kLive);
  loop_.RunReady();
  EXPECT_EQ(sink_->Take(), "Stale") << "it is not synced before it knows all objects";
  feed_->Resume();
  feed_->Attach(source_, kLive);
  loop_.RunReady();
  EXPECT_EQ(sink_->Take(), "~foo/00@4 !+foo/02@3 Synced");
  feed_->Pause(store_->Snapshot());
  feed_->SetStatus(kDown);
  feed_->Attach(source_, kLive);
  EXPECT_EQ(sink_->Take(), "Stale Synced") << "states are told all the time";
}

TEST_F(DemandFeedTest, ReplacedContentIsDeliveredAsADifference) {
  Fill(4);
  feed_->Attach(source_, kLive);
  loop_.RunReady();
  sink_->Take();
  const auto replaced =
      store_->Replace(ContentOf({Widget("foo/00", 1), Widget("foo/02", 9),
                                 Widget("foo/03", 9, "new"), Widget("foo/07", 9)}),
                      "9", 0);
  feed_->CatchUp(replaced.before);
  EXPECT_EQ(sink_->Take(), "");
  EXPECT_EQ(Turn(), "-foo/01@2");
  EXPECT_EQ(Turn(), "~foo/02@9 -foo/03@4 +foo/03@9");
  EXPECT_EQ(Turn(), "+foo/07@9");
  version_ = 9;
  Remove("foo/07");
  EXPECT_EQ(sink_->Take(), "-foo/07@10") << "the state was Synced all the time";
}

TEST_F(DemandFeedTest, DeliversNothingAfterClose) {
  Fill(5);
  sink_->OnCall([this] { feed_->Close(); });
  feed_->Attach(source_, kLive);
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(sink_->Take(), "!+foo/00@1");
  EXPECT_EQ(source_->slices.Value(), 1) << "nor takes another turn";
}

TEST_F(DemandFeedTest, HasItsStateAtOnceWithoutASink) {
  Fill(5);
  DemandFeed feed(nullptr);
  feed.Attach(source_, kLive);
  EXPECT_EQ(feed.status().state, DemandState::kSynced);
}

// In every interleaving the sink gets each change once, in each object's order, and in the end it
// knows the store.
TEST_F(DemandFeedTest, DeliversEachChangeOnce) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 die(seed);
    Create(/*slice=*/1 + die() % 5);
    const auto key = [&] { return Name(static_cast<int>(die() % 25)); };
    const auto uid = [&] { return die() % 8 == 0 ? "other" : "first"; };
    for (int step = 0; step < 120; ++step) {
      switch (die() % 16) {
        case 14:
          feed_->Pause(store_->Snapshot());
          break;
        case 15:
          feed_->Resume();
          break;
        case 0: {
          ObjectStore::Content content;
          for (const ObjectPtr& object : store_->List()) {
            if (die() % 4 != 0) content.Put(object);
          }
          for (int n = 0; n < 5; ++n) content.Put(Widget(key(), ++version_, uid()));
          const auto replaced = store_->Replace(std::move(content), StrCat(version_), die() % 10);
          if (replaced.before != nullptr) {
            feed_->CatchUp(replaced.before);
          } else {
            feed_->Deliver(replaced.events);
          }
          break;
        }
        case 1:
          feed_->Detach(store_->Snapshot());
          feed_->SetStatus(kGone);
          break;
        case 2:
          if (feed_->attached()) feed_->SetStatus(kDown);
          break;
        case 3:
        case 4:
          feed_->Attach(source_, kLive);
          break;
        case 5:
        case 6:
        case 7:
          Turn();
          break;
        case 8:
        case 9:
          Remove(key());
          break;
        default:
          Put(key(), uid());
      }
    }
    feed_->Resume();
    feed_->Attach(source_, kLive);
    loop_.RunReady();
    EXPECT_EQ(feed_->status().state, DemandState::kSynced);
    EXPECT_EQ(sink_->Content(), Text(store_->List()));
    ASSERT_TRUE(sink_->violations().empty()) << sink_->violations()[0];
  }
}

}  // namespace
}  // namespace mandate
