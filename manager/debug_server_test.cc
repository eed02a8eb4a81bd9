#include "manager/debug_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "manager/core/event_loop.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/must.h"
#include "manager/serving/testing/blocking_client.h"
#include "manager/serving/testing/http_client.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CheckDebugAddressTest, AcceptsLoopbackOnly) {
  for (const char* address : {"127.0.0.1:6060", "[::1]:6060", "localhost:6060", "127.1.2.3:0"}) {
    EXPECT_EQ(CheckDebugAddress(address), absl::OkStatus()) << address;
  }
  for (const char* address : {":6060", "0.0.0.0:6060", "[::]:6060", "10.0.0.1:6060"}) {
    const absl::Status status = CheckDebugAddress(address);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(std::string(status.message()),
                StartsWith(std::string(address) + " can be reached from other machines"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("use 127.0.0.1:6060"));
  }
  EXPECT_EQ(CheckDebugAddress("nowhere").code(), absl::StatusCode::kInvalidArgument);
}

// A server of a process without controllers and watches.
class DebugServerTest : public testing::Test {
 protected:
  ~DebugServerTest() override {
    server_.reset();
    loop_->Stop();
  }
  absl::StatusOr<std::unique_ptr<DebugServer>> Create(const std::string& address) {
    return DebugServer::Create({.address = address,
                                .caches = {cache_.get()},
                                .loop = loop_.get(),
                                .metrics = &metrics_,
                                .log = Logger(log_, loop_->clock())});
  }
  void Serve() { server_ = Must(Create("127.0.0.1:0")); }
  HttpAnswer Get(const std::string& target, const std::string& host = "localhost:6060") {
    BlockingClient client(server_->address());
    client.Write("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    const BlockingClient::Response response = client.Read();
    return {response.result_int(), response.body()};
  }

  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  std::unique_ptr<EventLoop> loop_ = Must(EventLoop::Create());
  std::unique_ptr<Cache> cache_ = Must(Cache::Create({.loop = *loop_, .metrics = metrics_}));
  std::unique_ptr<DebugServer> server_;
};

TEST_F(DebugServerTest, DoesNotListenForOtherMachines) {
  EXPECT_EQ(Create("0.0.0.0:0").status().code(), absl::StatusCode::kInvalidArgument);
  Serve();
  EXPECT_THAT(server_->address(), StartsWith("127.0.0.1:"));
  EXPECT_EQ(log_->Count("Serving debug pages address=" + server_->address()), 1u);
}

TEST_F(DebugServerTest, ChecksTheQuery) {
  Serve();
  const struct {
    const char* query;
    unsigned code;
  } rows[] = {
      {"", 200},
      {"?format=json", 200},
      {"?format=table", 200},
      {"?limit=1", 200},
      {"?limit=10000", 200},
      {"?component=x", 200},
      {"?format=yaml", 400},
      {"?limit=0", 400},
      {"?limit=10001", 400},
      {"?limit=-1", 400},
      {"?limit=many", 400},
      {"?verbose", 400},
  };
  for (const auto& row : rows) {
    for (const std::string page : {"/debug/queues", "/debug/watches"}) {
      const HttpAnswer answer = Get(page + row.query);
      EXPECT_EQ(answer.code, row.code) << page << row.query;
      if (row.code == 400) {
        EXPECT_THAT(answer.body, HasSubstr("is invalid; use ?format=json or table"));
      }
    }
  }
  EXPECT_EQ(Get("/debug/other").code, 404u);
  EXPECT_THAT(Get("/debug/other").body, HasSubstr("/debug/queues\n/debug/watches\n"));
}

// A browser sends the name of the site whose page makes it ask.
TEST_F(DebugServerTest, IsServedUnderTheNamesOfLoopback) {
  Serve();
  for (const std::string page : {"/debug/queues", "/debug/watches"}) {
    for (const char* host :
         {"localhost", "localhost:6060", "127.0.0.1:1", "127.1.2.3", "[::1]:2"}) {
      EXPECT_EQ(Get(page, host).code, 200u) << host;
    }
    for (const char* host : {"evil.example", "evil.example:6060", "localhost.evil.example",
                             "10.0.0.1", "[2001:db8::1]:6060", "[", "127.0.0.1.evil.example:80"}) {
      const HttpAnswer answer = Get(page, host);
      EXPECT_EQ(answer.code, 403u) << host;
      EXPECT_THAT(answer.body, HasSubstr("use http://localhost")) << host;
    }
  }
}

TEST_F(DebugServerTest, TheClientChoosesTheFormat) {
  Serve();
  const struct {
    const char* page;
    const char* empty;
    const char* title;
  } rows[] = {{"/debug/queues", "{\"queues\":[]}\n", "COMPONENT  CONTROLLER  WORKERS"},
              {"/debug/watches", "{\"scopes\":0,\"watches\":[]}\n", "COMPONENT  KIND  SCOPE"}};
  for (const auto& row : rows) {
    const std::string page = row.page;
    BlockingClient client(server_->address());
    client.Write("GET " + page +
                 " HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n");
    const BlockingClient::Response json = client.Read();
    EXPECT_EQ(json.body(), row.empty);
    EXPECT_EQ(json["Content-Type"], "application/json");
    EXPECT_EQ(Get(page + "?format=json").body, row.empty);
    EXPECT_THAT(Get(page).body, StartsWith(row.title));
    client.Write("GET " + page +
                 "?format=table HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n");
    EXPECT_THAT(client.Read().body(), StartsWith(row.title));
  }
}

TEST_F(DebugServerTest, ABlockedLoopDelaysItsOwnPageOnly) {
  Serve();
  Latch blocked;
  Latch over;
  loop_->Post([&] {
    blocked.Set();
    over.Wait();
  });
  blocked.Wait();
  auto watches = std::async(std::launch::async, [&] { return Get("/debug/watches"); });
  EXPECT_EQ(Get("/debug/queues").code, 200u);
  EXPECT_EQ(Get("/debug/watches?limit=0").code, 400u);
  over.Set();
  EXPECT_EQ(watches.get().code, 200u);
}

}  // namespace
}  // namespace mandate
