// Thousands of watches on one loop.
#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

size_t CountOpenFiles() {
  DIR* const folder = opendir("/proc/self/fd");
  size_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count - 3;  // ".", ".." and the folder itself
}

// The memory of this process, in bytes.
double ResidentMemory() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

class HttpTransportScaleTest : public TransportFixture {
 protected:
  void Start(HttpOptions options) {
    StartServer([this](std::shared_ptr<ServerStream> stream) {
      stream->Open();
      Keep(std::move(stream));
    });
    StartTransport(options);
  }

  template <class Condition>
  bool All(Condition condition) {
    return Eventually([&] {
      for (const Watch& watch : watches_) {
        if (!condition(*watch.sink)) return false;
      }
      return true;
    });
  }

  std::vector<Watch> watches_;
};

TEST_F(HttpTransportScaleTest, FiveThousandWatchesMissNothingOnFiftyConnections) {
  constexpr int kWatches = 5000, kEvents = 10;
  // One more stream on each is kept for the probe. A slow machine does not cause more connections.
  Start({.streams_per_connection = 101, .suspect_connection_after = absl::Minutes(1)});
  const size_t files_before = CountOpenFiles();
  const double memory_before = ResidentMemory();
  const absl::Time start = loop_->clock().TimeNow();
  watches_ = OpenMany(kWatches);
  ASSERT_TRUE(All([](const CollectingSink& sink) { return sink.code() == 200; }));
  const absl::Time opened = loop_->clock().TimeNow();
  const double memory = ResidentMemory() - memory_before;
  const size_t files = CountOpenFiles() - files_before;
  EXPECT_EQ(server_->stats().accepted, 50u);
  EXPECT_EQ(server_->stats().open_streams, size_t{kWatches});
  EXPECT_EQ(server_->stats().most_streams_on_a_connection, 100u);
  // Both ends are in this process. libcurl also makes a pair of sockets for each connection to wake
  // curl_multi_poll, which is not used.
  EXPECT_EQ(files, 4 * 50u);
#if !defined(__SANITIZE_ADDRESS__) && !defined(_GLIBCXX_TSAN)
  EXPECT_LE(memory / kWatches, 48 * 1024);
#endif

  const std::vector<std::shared_ptr<ServerStream>> streams = TakeKept();
  ASSERT_EQ(streams.size(), size_t{kWatches});
  std::string expected;
  for (int event = 0; event < kEvents; ++event) {
    const std::string text = std::to_string(event) + "\n";
    expected += text;
    for (const auto& stream : streams) stream->Send(text);
  }
  ASSERT_TRUE(All([&](const CollectingSink& sink) { return sink.data() == expected; }));
  const absl::Time done = loop_->clock().TimeNow();
  for (const Watch& watch : watches_) EXPECT_FALSE(watch.sink->closed().has_value());

  OnLoop([this] {
    for (Watch& watch : watches_) watch.stream.reset();
  });
  EXPECT_TRUE(Eventually([this] { return server_->stats().open_streams == 0; }));
  EXPECT_TRUE(All([](const CollectingSink& sink) { return sink.closed_count() == 1; }));
  const HttpStats stats = Stats();
  EXPECT_EQ(stats.active, 0u);
  EXPECT_EQ(stats.waiting, 0u);
  EXPECT_EQ(stats.connections_drained, 0u);
  std::printf(
      "%d watches open after %s, %d events after %s, all gone after %s; %zu descriptors and %.1f "
      "KiB a watch, for both ends\n",
      kWatches, absl::FormatDuration(opened - start).c_str(), kWatches * kEvents,
      absl::FormatDuration(done - opened).c_str(),
      absl::FormatDuration(loop_->clock().TimeNow() - done).c_str(), files,
      memory / kWatches / 1024);
}

TEST_F(HttpTransportScaleTest, ByDefaultAConnectionTakesWhatAnApiServerAllowsButOne) {
  Start({.suspect_connection_after = absl::Minutes(1)});
  watches_ = OpenMany(500);
  ASSERT_TRUE(All([](const CollectingSink& sink) { return sink.code() == 200; }));
  EXPECT_EQ(server_->stats().accepted, 6u);  // 99 each
  EXPECT_EQ(server_->stats().most_streams_on_a_connection, 99u);
}

TEST_F(HttpTransportScaleTest, ThousandsMayBeCancelledWhileTheyAreBeingOpened) {
  Start({});
  watches_ = OpenMany(3000);
  // Some wait, some connect, some are open.
  ASSERT_TRUE(Eventually([this] { return server_->stats().requests >= 200; }));
  OnLoop([this] {
    for (Watch& watch : watches_) watch.stream.reset();
  });
  EXPECT_TRUE(All([](const CollectingSink& sink) { return sink.closed_count() == 1; }));
  EXPECT_TRUE(Eventually([this] { return server_->stats().open_streams == 0; }));
  EXPECT_TRUE(Eventually([this] { return Stats().active == 0 && Stats().waiting == 0; }));
}

}  // namespace
}  // namespace mandate
