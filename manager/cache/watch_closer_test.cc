#include "manager/cache/watch_closer.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "manager/cache/testing/watch_json.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

class WatchCloserTest : public testing::Test, protected WatchStream::Observer {
 protected:
  void OnWatchOpen() override {}
  void OnWatchEvent(WatchEvent) override { ++events_; }
  void OnWatchEnd(const WatchStream::End&) override { ++ends_; }

  // Opens so many watches.
  std::vector<std::unique_ptr<WatchStream>> Open(int count) {
    std::vector<std::unique_ptr<WatchStream>> watches;
    for (int i = 0; i < count; ++i) {
      watches.push_back(std::make_unique<WatchStream>(client_, RestRequest(),
                                                      WatchStream::Options(),
                                                      static_cast<WatchStream::Observer&>(*this)));
      client_.watches().back()->Open();
    }
    loop_.RunReady();
    return watches;
  }
  void Close(std::vector<std::unique_ptr<WatchStream>> watches) {
    for (auto& watch : watches) closer_->Close(std::move(watch));
  }
  size_t open() const { return client_.live_watches(); }
  double Waiting() { return metrics_.Gauge("mandate_cache_watches_closing", "", {}).Value(); }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "a"};
  Metrics metrics_;
  std::optional<WatchCloser> closer_{
      std::in_place, WatchCloser::Options{.per_second = 2, .burst = 3, .max_waiting = 20}, loop_,
      metrics_};
  int events_ = 0;
  int ends_ = 0;
};

TEST_F(WatchCloserTest, ABurstAndThenTheRate) {
  Close(Open(6));
  EXPECT_EQ(open(), 3u);
  EXPECT_EQ(Waiting(), 3);
  loop_.RunFor(absl::Seconds(0.4));
  EXPECT_EQ(open(), 3u);
  loop_.RunFor(absl::Seconds(0.2));
  EXPECT_EQ(open(), 2u);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(open(), 0u);
  EXPECT_EQ(Waiting(), 0);
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture()) << "nothing waits";
}

TEST_F(WatchCloserTest, AWatchThatWaitsDeliversNothing) {
  Close(Open(4));
  FakeWatch& last = *client_.watches().back();
  ASSERT_FALSE(last.cancelled());
  last.Send(EventJson("ADDED", WidgetJson("default/a", 1)));
  loop_.RunReady();
  EXPECT_EQ(events_, 0);
  EXPECT_FALSE(last.cancelled()) << "an event does not hasten it";
  last.Close();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(ends_, 0);
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(WatchCloserTest, AWatchWithoutAnAnswerWaitsToo) {
  Close(Open(3));
  WatchStream::Observer& observer = *this;
  closer_->Close(
      std::make_unique<WatchStream>(client_, RestRequest(), WatchStream::Options(), observer));
  client_.watches().back()->Open();
  loop_.RunReady();
  EXPECT_EQ(open(), 1u);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(open(), 0u);
}

TEST_F(WatchCloserTest, TellsWhenNoneWaits) {
  int done = 0;
  closer_->Finish(absl::InfiniteFuture(), [&] { ++done; });
  EXPECT_EQ(done, 0) << "never inside the call";
  loop_.RunReady();
  EXPECT_EQ(done, 1);
  Close(Open(5));
  closer_->Finish(absl::InfiniteFuture(), [&] { done += open() == 0 ? 10 : 100; });
  loop_.RunFor(absl::Seconds(0.9));
  EXPECT_EQ(done, 1);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(done, 11);
}

TEST_F(WatchCloserTest, SomeAreClosedAtOnceWhileTooManyWait) {
  Close(Open(100));
  EXPECT_EQ(open(), 20u);
  EXPECT_EQ(Waiting(), 20);
  EXPECT_TRUE(client_.watches().front()->cancelled());
  EXPECT_FALSE(client_.watches().back()->cancelled());
  loop_.RunFor(absl::Seconds(11));
  EXPECT_EQ(open(), 0u);
}

TEST_F(WatchCloserTest, ClosesTheRestAtTheDeadline) {
  Close(Open(9));
  bool done = false;
  closer_->Finish(loop_.clock().TimeNow() + absl::Seconds(1.2), [&] { done = true; });
  loop_.RunFor(absl::Seconds(1.1));
  EXPECT_EQ(open(), 4u);
  EXPECT_FALSE(done);
  loop_.RunFor(absl::Seconds(0.2));
  EXPECT_EQ(open(), 0u);
  EXPECT_EQ(Waiting(), 0);
  EXPECT_TRUE(done);
}

TEST_F(WatchCloserTest, ItsEndClosesAll) {
  Close(Open(9));
  closer_.reset();
  EXPECT_EQ(open(), 0u);
  EXPECT_EQ(Waiting(), 0);
  loop_.RunFor(absl::Minutes(1));
}

}  // namespace
}  // namespace mandate
