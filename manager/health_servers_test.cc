#include "manager/health_servers.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/serving/testing/http_client.h"
#include "manager/serving/testing/tls_client.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The code of the answer over TLS. Another test verifies the certificate.
unsigned GetByTls(const std::string& address, const std::string& target) {
  return SendByTls(address, "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n").code;
}

// The answer of grpc.health.v1.Health/Check for the process: 1 serving, 2 not serving; 0: no
// answer.
int CheckByGrpc(const std::string& address) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice nothing;
  auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check",
                                    grpc::ByteBuffer(&nothing, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  grpc::Slice bytes;
  if (!queue.Next(&tag, &ok) || !status.ok() || !response.DumpToSingleSlice(&bytes).ok()) return 0;
  return bytes.size() == 2 ? bytes.begin()[1] : 0;  // one field, by hand
}

class HealthServersTest : public testing::Test {
 protected:
  absl::Status Serve(const std::string& health, const std::string& metrics,
                     const std::string& grpc = "0") {
    auto servers = HealthServers::Create({.health_address = health,
                                          .metrics_address = metrics,
                                          .grpc_address = grpc,
                                          .ready = &ready_,
                                          .metrics = &metrics_,
                                          .loop = &loop_,
                                          .log = Logger(log_, loop_.clock())});
    if (!servers.ok()) return servers.status();
    servers_ = *std::move(servers);
    return absl::OkStatus();
  }
  // The address in the log line "Serving metrics".
  std::string AddressOf(const std::string& what) const {
    const std::string line = log_->Last("Serving " + what);
    const std::string key = " address=";
    return line.empty() ? "" : line.substr(line.find(key) + key.size());
  }

  SimulatedLoop loop_;
  HealthChecks ready_;
  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  std::unique_ptr<HealthServers> servers_;
};

constexpr char kAnyPort[] = "127.0.0.1:0";

TEST_F(HealthServersTest, LivenessIsNotReadiness) {
  std::atomic<bool> can_work = false;
  ready_.Add("scope",
             [&] { return can_work ? absl::OkStatus() : absl::UnavailableError("waits"); });
  ASSERT_EQ(Serve(kAnyPort, "0"), absl::OkStatus());
  const std::string address = AddressOf("health probes");
  for (const bool works : {false, true}) {
    can_work = works;
    const unsigned ready = works ? 200 : 500;
    const struct {
      const char* target;
      unsigned code;
    } rows[] = {
        {"/healthz", 200},      {"/livez", 200},          {"/readyz", ready},
        {"/readyz/ping", 200},  {"/readyz/scope", ready}, {"/livez/ping", 200},
        {"/healthz/ping", 200}, {"/livez/scope", 404},    {"/metrics", 404},
    };
    for (const auto& row : rows) {
      EXPECT_EQ(GetByHttp(address, row.target).code, row.code) << row.target << " " << works;
    }
  }
  EXPECT_THAT(GetByHttp(address, "/readyz?verbose").body, HasSubstr("[+]scope ok"));
}

TEST_F(HealthServersTest, MetricsHaveAServerOfTheirOwn) {
  metrics_.Counter("widgets_total", "Widgets.", {}).Increment(3);
  ASSERT_EQ(Serve("0", kAnyPort), absl::OkStatus());
  EXPECT_EQ(AddressOf("health probes"), "");
  const std::string address = AddressOf("metrics");
  const HttpAnswer answer = GetByHttp(address, "/metrics");
  EXPECT_EQ(answer.code, 200u);
  EXPECT_THAT(answer.body, HasSubstr("widgets_total 3"));
  EXPECT_THAT(answer.body, HasSubstr("process_open_fds"));
  EXPECT_EQ(GetByHttp(address, "/readyz").code, 404u);
}

TEST_F(HealthServersTest, TwoAddressesAreTwoServers) {
  ASSERT_EQ(Serve("127.0.0.1:0", "localhost:0"), absl::OkStatus());
  EXPECT_NE(AddressOf("health probes"), AddressOf("metrics"));
  EXPECT_EQ(GetByHttp(AddressOf("health probes"), "/metrics").code, 404u);
  EXPECT_EQ(GetByHttp(AddressOf("metrics"), "/metrics").code, 200u);
}

TEST_F(HealthServersTest, OneAddressIsOneServer) {
  ASSERT_EQ(Serve(kAnyPort, kAnyPort), absl::OkStatus());
  EXPECT_EQ(log_->Count("Serving"), 1);
  const std::string address = AddressOf("health probes");
  EXPECT_EQ(GetByHttp(address, "/metrics").code, 200u);
  EXPECT_EQ(GetByHttp(address, "/readyz").code, 200u);
}

TEST_F(HealthServersTest, ServesNothingWithoutAnAddress) {
  for (const char* const none : {"0", ""}) {
    ASSERT_EQ(Serve(none, none, none), absl::OkStatus());
    EXPECT_TRUE(log_->lines().empty());
    EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  }
  ASSERT_EQ(Serve("0", "", ""), absl::OkStatus());
  EXPECT_TRUE(log_->lines().empty());
}

TEST_F(HealthServersTest, GrpcFollowsReadiness) {
  std::atomic<bool> can_work = false;
  ready_.Add("scope",
             [&] { return can_work ? absl::OkStatus() : absl::UnavailableError("waits"); });
  ASSERT_EQ(Serve("0", "0", kAnyPort), absl::OkStatus());
  const std::string address = AddressOf("gRPC health");
  EXPECT_EQ(CheckByGrpc(address), 2);
  can_work = true;
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(CheckByGrpc(address), 1);
}

TEST_F(HealthServersTest, DestructionStopsAllServers) {
  ASSERT_EQ(Serve("127.0.0.1:0", "localhost:0", kAnyPort), absl::OkStatus());
  servers_.reset();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(GetByHttp(AddressOf("health probes"), "/healthz").code, 0u);
  EXPECT_EQ(GetByHttp(AddressOf("metrics"), "/metrics").code, 0u);
  EXPECT_EQ(CheckByGrpc(AddressOf("gRPC health")), 0);
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST_F(HealthServersTest, StopsTheOtherServersIfOneCannotListen) {
  ASSERT_EQ(Serve(kAnyPort, "0"), absl::OkStatus());
  const std::unique_ptr<HealthServers> first = std::move(servers_);
  const std::string taken = AddressOf("health probes");
  constexpr char kInvalid[] = "no address";
  const struct {
    absl::Status status;
    absl::StatusCode code;
    const char* flag;
  } rows[] = {
      {Serve(taken, "0"), absl::StatusCode::kUnavailable, "--health-probe-bind-address: "},
      {Serve("0", taken), absl::StatusCode::kUnavailable, "--metrics-bind-address: "},
      {Serve(kInvalid, "0"), absl::StatusCode::kInvalidArgument, "--health-probe-bind-address: "},
      {Serve("0", kInvalid), absl::StatusCode::kInvalidArgument, "--metrics-bind-address: "},
      {Serve("0", kAnyPort, taken), absl::StatusCode::kUnavailable, "--grpc-health-address: "},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.status.code(), row.code) << row.status;
    EXPECT_THAT(std::string(row.status.message()), StartsWith(row.flag));
  }
  EXPECT_EQ(GetByHttp(AddressOf("metrics"), "/metrics").code, 0u);
  EXPECT_EQ(GetByHttp(taken, "/healthz").code, 200u);
}

TEST_F(HealthServersTest, SecureMetricsHaveAnAddressOfTheirOwnAndNoPlainText) {
  HealthServers::Options options;
  options.health_address = kAnyPort;
  options.metrics_address = kAnyPort;
  options.metrics_secure = true;
  std::atomic<bool> may = true;
  options.metrics_access_check =
      [&](const AccessRequest&, const std::function<void(std::optional<ServedResponse>)>& answer) {
        answer(may ? std::nullopt : std::optional(ServedResponse{.code = 403, .body = "no\n"}));
      };
  options.ready = &ready_;
  options.metrics = &metrics_;
  options.loop = &loop_;
  options.log = Logger(log_, loop_.clock());
  EXPECT_EQ(HealthServers::Create(options).status().code(), absl::StatusCode::kInvalidArgument);

  options.metrics_address = "127.0.0.2:0";
  options.metrics_certificate.dir = "/nonexistent";
  EXPECT_EQ(HealthServers::Create(options).status(),
            absl::InvalidArgumentError(
                "--metrics-cert-path: cannot open /nonexistent/tls.crt: No such file or directory; "
                "the folder /nonexistent must have a certificate tls.crt and its private key "
                "tls.key"));

  options.metrics_certificate.dir = "";
  servers_ = *HealthServers::Create(options);
  EXPECT_EQ(GetByHttp(AddressOf("health probes"), "/healthz").code, 200u);
  EXPECT_EQ(GetByHttp(AddressOf("health probes"), "/metrics").code, 404u);
  const std::string metrics = AddressOf("metrics");
  EXPECT_THAT(metrics, HasSubstr(" secure=true"));
  const std::string address = metrics.substr(0, metrics.find(' '));
  EXPECT_EQ(GetByTls(address, "/metrics"), 200u);
  may = false;
  EXPECT_EQ(GetByTls(address, "/metrics"), 403u);
}

}  // namespace
}  // namespace mandate
