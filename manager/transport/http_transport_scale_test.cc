// Thousands of watches on one loop.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

class HttpTransportScaleTest : public TransportFixture {};

TEST_F(HttpTransportScaleTest, ThousandsOfWatchesMissNothing) {
  constexpr int kWatches = 2000, kEvents = 10;
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    stream->Open();
    Keep(std::move(stream));
  });
  StartTransport();

  std::vector<Watch> watches(kWatches);
  const absl::Time start = loop_->clock().TimeNow();
  OnLoop([&] {
    for (int i = 0; i < kWatches; ++i) {
      HttpRequest request = Request("/watch/" + std::to_string(i));
      request.user_agent = "component-" + std::to_string(i % 40);
      watches[i].sink = std::make_shared<CollectingSink>();
      watches[i].stream = transport_->Open(std::move(request), watches[i].sink);
    }
  });
  const auto all = [&](auto condition) {
    return Eventually([&] {
      for (const Watch& watch : watches) {
        if (!condition(*watch.sink)) return false;
      }
      return true;
    });
  };
  ASSERT_TRUE(all([](const CollectingSink& sink) { return sink.code() == 200; }));
  const absl::Time opened = loop_->clock().TimeNow();
  // 99 each.
  EXPECT_EQ(server_->stats().accepted, 21u);
  EXPECT_EQ(server_->stats().open_streams, size_t{kWatches});
  EXPECT_LE(server_->stats().most_streams_on_a_connection, 100u);

  const std::vector<std::shared_ptr<ServerStream>> streams = TakeKept();
  std::string expected;
  for (int event = 0; event < kEvents; ++event) {
    const std::string text = std::to_string(event) + "\n";
    expected += text;
    for (const auto& stream : streams) stream->Send(text);
  }
  ASSERT_TRUE(all([&](const CollectingSink& sink) { return sink.data() == expected; }));
  const absl::Time done = loop_->clock().TimeNow();

  OnLoop([&] { watches.clear(); });
  EXPECT_TRUE(Eventually([this] { return server_->stats().open_streams == 0; }));
  std::printf("%d watches open after %s, %d events after %s, all gone after %s\n", kWatches,
              absl::FormatDuration(opened - start).c_str(), kWatches * kEvents,
              absl::FormatDuration(done - opened).c_str(),
              absl::FormatDuration(loop_->clock().TimeNow() - done).c_str());
}

}  // namespace
}  // namespace mandate
