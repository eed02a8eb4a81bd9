#include "manager/cache/watch_stream.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/loop_label.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

// Keeps the sink, so that the test is the transport.
class SinkClient : public RestClient {
 public:
  explicit SinkClient(Loop& loop) : loop_(loop) {}

  void Send(const CallContext&, RestRequest, Done) override {}
  std::unique_ptr<Stream> Watch(RestRequest, std::shared_ptr<StreamSink> sink) override {
    this->sink = std::move(sink);
    return std::make_unique<OpenStream>();
  }
  std::string_view component() const override { return "a"; }
  Loop& loop() override { return loop_; }

  std::shared_ptr<StreamSink> sink;

 private:
  struct OpenStream : Stream {};

  Loop& loop_;
};

class WatchStreamTest : public ::testing::Test, protected WatchStream::Observer {
 protected:
  void OnWatchOpen() override { log_ += "open "; }
  void OnWatchEvent(WatchEvent) override {
    log_ += "event ";
    loop_.simulated_clock().AdvanceTo(loop_.clock().TimeNow() + takes_);
  }
  void OnWatchTurn() override { log_ += "turn "; }
  void OnWatchEnd(const WatchStream::End& end) override {
    log_ += end.kind == WatchStream::End::Kind::kNeverOpened ? "never opened" : "end";
  }
  StreamSink::Flow Open() {
    HttpResponse head;
    head.code = 200;
    head.content_type = "application/json";
    return client_.sink->OnOpen(head);
  }

  SimulatedLoop loop_;
  SinkClient client_{loop_};
  absl::Duration takes_ = absl::ZeroDuration();  // an event
  std::string log_;
  std::unique_ptr<WatchStream> stream_ = std::make_unique<WatchStream>(
      client_, RestRequest(),
      WatchStream::Options{.frames_per_turn = 1, .lifetime = absl::Seconds(5)},
      static_cast<WatchStream::Observer&>(*this));
};

TEST_F(WatchStreamTest, AnAnswerAfterItsLifetimeIsCancelled) {
  ASSERT_TRUE(loop_.RunUntil([&] { return loop_.ready_tasks() > 0; }));
  EXPECT_EQ(Open(), StreamSink::Flow::kCancel) << "its end is known, and not told yet";
  loop_.RunReady();
  EXPECT_EQ(log_, "never opened");
  EXPECT_EQ(client_.sink->OnData(BookmarkJson("1")), StreamSink::Flow::kCancel);
}

TEST_F(WatchStreamTest, ATurnReadsHalfOfTheWaitingBytes) {
  Open();
  loop_.RunReady();
  const std::string frame = EventJson("ADDED", WidgetJson("default/a", 1));
  client_.sink->OnData(frame + frame + frame + frame);
  loop_.RunReady();
  EXPECT_EQ(log_, "open event event turn event turn event turn ");
}

// Others have a turn between events that take long, while there is room for what arrives meanwhile.
TEST_F(WatchStreamTest, ALongTurnEndsEarlyUnlessHalfOfTheBoundWaits) {
  const std::string frame =
      std::string(70'000, ' ') + EventJson("ADDED", WidgetJson("default/a", 1));
  takes_ = absl::Milliseconds(3);
  const auto events_of_turns = [&](size_t max_queue_bytes) {
    stream_ = std::make_unique<WatchStream>(
        client_, RestRequest(), WatchStream::Options{.max_queue_bytes = max_queue_bytes},
        static_cast<WatchStream::Observer&>(*this));
    Open();
    loop_.RunReady();
    log_.clear();
    client_.sink->OnData(frame + frame + frame + frame + frame);
    loop_.RunReady();
    return log_;
  };
  EXPECT_EQ(events_of_turns(100 * frame.size()), "event event turn event event turn event turn ");
  EXPECT_EQ(events_of_turns(6 * frame.size()), "event event event turn event event turn ");
}

// Bytes that never become an event: many watches that each stay below their own bounds.
TEST_F(WatchStreamTest, WaitingBytesCountInTheBudgetOfTheComponent) {
  constexpr size_t kMebibyte = size_t{1} << 20;
  Metrics metrics;
  WatchBudget budget({.max_bytes = 4 * kMebibyte, .max_watches = 1000, .bytes_per_watch = 0},
                     loop_.clock(), metrics);
  budget.AddComponent("a");
  budget.AddComponent("quiet");
  const auto held = [&] {
    return metrics.Gauge("mandate_cache_budget_used_bytes", "", {{"identity", "a"}}).Value();
  };
  WatchBudget::Account account(budget, "a");
  const auto open = [&] {
    stream_ = std::make_unique<WatchStream>(client_, RestRequest(),
                                            WatchStream::Options{.account = &account},
                                            static_cast<WatchStream::Observer&>(*this));
    Open();
    loop_.RunReady();
  };
  open();
  const std::string small(1 << 10, ' '), half(kMebibyte / 2, '{');
  EXPECT_EQ(client_.sink->OnData(small), StreamSink::Flow::kContinue);
  EXPECT_EQ(held(), 0) << "it comes and goes";
  // A quarter of the budget is its own, and the common half.
  int taken = 0;
  while (taken < 100 && client_.sink->OnData(half) == StreamSink::Flow::kContinue) {
    loop_.RunReady();
    ++taken;
  }
  EXPECT_EQ(taken, 5);
  loop_.RunReady();
  EXPECT_TRUE(log_.ends_with(" end")) << log_;
  EXPECT_EQ(held(), 0);

  open();
  EXPECT_EQ(client_.sink->OnData(half), StreamSink::Flow::kContinue);
  EXPECT_EQ(held(), half.size());
  stream_.reset();
  EXPECT_EQ(held(), 0) << "although the transport still has it";
}

TEST_F(WatchStreamTest, BytesThatWereReadOrDroppedDoNotCount) {
  Metrics metrics;
  WatchBudget budget({.max_bytes = size_t{4} << 20, .max_watches = 1000, .bytes_per_watch = 0},
                     loop_.clock(), metrics);
  WatchBudget::Account account(budget, "a");
  const auto held = [&] {
    return metrics.Gauge("mandate_cache_budget_used_bytes", "", {{"identity", "a"}}).Value();
  };
  stream_ = std::make_unique<WatchStream>(client_, RestRequest(),
                                          WatchStream::Options{.account = &account},
                                          static_cast<WatchStream::Observer&>(*this));
  Open();
  loop_.RunReady();
  const std::string frame =
      std::string(70'000, ' ') + EventJson("ADDED", WidgetJson("default/a", 1));
  client_.sink->OnData(frame);
  EXPECT_EQ(held(), frame.size());
  loop_.RunReady();
  EXPECT_EQ(held(), 0);

  // The turn that would have read them comes after the end.
  client_.sink->OnData(frame);
  stream_.reset();
  loop_.RunReady();
  EXPECT_EQ(held(), 0);
}

TEST_F(WatchStreamTest, ATurnIsLongOnlyAfterItsTime) {
  takes_ = absl::Milliseconds(2);
  stream_ = std::make_unique<WatchStream>(client_, RestRequest(),
                                          WatchStream::Options{.max_queue_bytes = size_t{1} << 30},
                                          static_cast<WatchStream::Observer&>(*this));
  Open();
  loop_.RunReady();
  log_.clear();
  const std::string frame =
      std::string(70'000, ' ') + EventJson("ADDED", WidgetJson("default/a", 1));
  std::string frames;
  for (int i = 0; i < 7; ++i) frames += frame;
  client_.sink->OnData(frames);
  loop_.RunReady();
  EXPECT_EQ(log_, "event event event turn event event event turn event turn ");
}

TEST_F(WatchStreamTest, TheEndComesAfterAllEvents) {
  Open();
  loop_.RunReady();
  const std::string frame = EventJson("ADDED", WidgetJson("default/a", 1));
  client_.sink->OnData(frame + frame + frame + frame);
  client_.sink->OnClosed(absl::OkStatus());
  loop_.RunReady();
  EXPECT_EQ(log_, "open event event turn event turn event turn end");
}

TEST_F(WatchStreamTest, ATurnHasALabel) {
  LoopActivity activity(loop_.clock(), absl::Milliseconds(1));
  takes_ = absl::Milliseconds(2);
  Open();
  client_.sink->OnData(EventJson("ADDED", WidgetJson("default/a", 1)));
  activity.BeginTurn();
  loop_.RunReady();
  activity.EndTurn();
  const LoopActivity::View view = activity.Look();
  ASSERT_EQ(view.ended.size(), 1u);
  EXPECT_EQ(view.ended[0].label, "a: events of a watch");
}

TEST_F(WatchStreamTest, AnAnswerAfterItsEndIsCancelled) {
  stream_.reset();
  EXPECT_EQ(Open(), StreamSink::Flow::kCancel);
  EXPECT_EQ(client_.sink->OnData(BookmarkJson("1")), StreamSink::Flow::kCancel);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(log_, "");
}

}  // namespace
}  // namespace mandate
