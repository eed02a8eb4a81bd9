// A read that may wait is an error on the loop, both on a real and on a simulated one.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/core/event_loop.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// The server has no widgets, as the first frame of each watch says.
class EmptyServerClient : public RestClient {
 public:
  explicit EmptyServerClient(Loop& loop) : loop_(loop) {}

  void Send(const CallContext&, RestRequest, Done done) override {
    loop_.Post([done = std::move(done)]() mutable {
      std::move(done)(absl::UnavailableError("not served here"));
    });
  }
  std::unique_ptr<Stream> Watch(RestRequest, std::shared_ptr<StreamSink> sink) override {
    loop_.Post([sink = std::move(sink)] {
      HttpResponse head;
      head.code = 200;
      head.content_type = "application/json";
      sink->OnOpen(head);
      sink->OnData(BookmarkJson("100", /*initial_events_end=*/true));
    });
    return std::make_unique<OpenStream>();
  }
  std::string_view component() const override { return "a"; }
  Loop& loop() override { return loop_; }

 private:
  struct OpenStream : Stream {};

  Loop& loop_;
};

class Synced : public DemandSink {
 public:
  void OnEvent(const ObjectEvent&) override {}
  void OnState(const DemandStatus& status) override {
    if (status.state == DemandState::kSynced) synced.Set();
  }
  Latch synced;
};

void ExpectNamed(const absl::Status& status, std::string_view call) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  for (const std::string_view part :
       {call, std::string_view("on the event loop"), std::string_view("widgets.example.com"),
        std::string_view("NonBlockingContext()")}) {
    EXPECT_NE(status.message().find(AsAbsl(part)), std::string::npos) << status;
  }
}

// Tries each kind of read after a component's own write that the watch never brings. On the loop a
// wait would never end.
void ExpectErrorsAtOnce(const CacheView& view) {
  for (const absl::Time deadline : {absl::InfiniteFuture(), absl::FromUnixSeconds(4'000'000'000)}) {
    const CallContext waiting{.deadline = deadline, .stop = {}};
    ExpectNamed(view.GetRaw(waiting, kWidget, {"foo", "x"}).status(), "GetRaw");
    ExpectNamed(view.ListRaw(waiting, kWidget, "foo").status(), "ListRaw");
    ExpectNamed(view.ListRawByIndex(waiting, kWidget, {"name", "x"}).status(), "ListRawByIndex");
  }
}

std::vector<std::string> Name(const RawObject& object) { return {std::string(object.name())}; }

TEST(LoopReadsTest, OnARealLoop) {
  auto loop = EventLoop::Create({});
  ASSERT_TRUE(loop.ok()) << loop.status();
  Metrics metrics;
  EmptyServerClient client(**loop);
  Cache::Options options{.loop = **loop, .metrics = metrics};
  options.own_write_wait = absl::Milliseconds(1);
  auto cache = Cache::Create(options);
  ASSERT_TRUE(cache.ok()) << cache.status();
  CacheView& view = (*cache)->AddComponent(client, kReader);
  ASSERT_TRUE(view.IndexField(kWidget, "name", Name).ok());
  auto sink = std::make_shared<Synced>();
  auto demand = view.Demand({kWidget, "", ""}, sink);
  sink->synced.Wait();
  client.own_writes().Wrote(kWidget, {"foo", "x"}, "200");
  Latch done;
  (*loop)->Post([&] {
    ExpectErrorsAtOnce(view);
    EXPECT_EQ(view.GetRaw(NonBlockingContext(), kWidget, {"foo", "x"}).status().code(),
              absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(view.GetRaw(NonBlockingContext(), kWidget, {"foo", "y"}).status().code(),
              absl::StatusCode::kNotFound);
    done.Set();
  });
  done.Wait();
  EXPECT_EQ(view.GetRaw({}, kWidget, {"foo", "x"}).status().code(),
            absl::StatusCode::kDeadlineExceeded)
      << "another thread may wait, within its bound";
  demand.reset();
  (*loop)->Stop();
}

class SimulatedLoopReadsTest : public CacheFixture {};

TEST_F(SimulatedLoopReadsTest, OnASimulatedLoop) {
  CacheView& view = AddGranted(a_);
  ASSERT_TRUE(view.IndexField(kWidget, "name", Name).ok());
  Demanded demand = DemandAndSettle(view);
  bool ran = false;
  loop_.Post([&] {
    ExpectErrorsAtOnce(view);
    EXPECT_EQ(view.GetRaw(NonBlockingContext(), kWidget, {"foo", "y"}).status().code(),
              absl::StatusCode::kNotFound);
    ran = true;
  });
  loop_.RunReady();
  EXPECT_TRUE(ran);
  SimulatedPool pool(loop_, 1);
  pool.Post([&] {
    EXPECT_EQ(view.GetRaw({}, kWidget, {"foo", "y"}).status().code(), absl::StatusCode::kNotFound);
    ran = false;
  });
  loop_.RunFor(absl::Seconds(1));
  EXPECT_FALSE(ran);
}

TEST_F(SimulatedLoopReadsTest, InAFakeView) {
  FakeCacheView view(loop_);
  ASSERT_TRUE(view.IndexField(kWidget, "name", Name).ok());
  const auto demand = view.Demand({kWidget, "", ""}, nullptr);
  loop_.Post([&] {
    const CallContext waiting;
    ExpectNamed(view.GetRaw(waiting, kWidget, {"foo", "x"}).status(), "GetRaw");
    ExpectNamed(view.ListRaw(waiting, kWidget, "foo").status(), "ListRaw");
    ExpectNamed(view.ListRawByIndex(waiting, kWidget, {"name", "x"}).status(), "ListRawByIndex");
    EXPECT_TRUE(view.ListRaw(NonBlockingContext(), kWidget, "foo").ok());
  });
  loop_.RunReady();
  EXPECT_TRUE(view.ListRaw({}, kWidget, "foo").ok());
}

}  // namespace
}  // namespace mandate
