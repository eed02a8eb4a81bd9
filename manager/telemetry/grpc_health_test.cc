#include "manager/telemetry/grpc_health.h"

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

// The values of grpc.health.v1.HealthCheckResponse.ServingStatus.
enum Serving { kServing = 1, kNotServing = 2 };

struct Answer {
  grpc::StatusCode code;
  int serving = -1;
  bool operator==(const Answer&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  return out << "code " << answer.code << " serving " << answer.serving;
}

// grpc.health.v1.Health/Check with messages written by hand: one field each.
Answer Check(const std::string& address, const std::string& service) {
  std::string request;
  if (!service.empty()) {
    request = std::string("\x0a") + static_cast<char>(service.size()) + service;
  }
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::Slice slice(request);
  auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check",
                                    grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  EXPECT_TRUE(queue.Next(&tag, &ok) && ok);
  Answer answer{status.error_code()};
  if (!status.ok()) return answer;
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(response.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& part : slices) {
    bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
  }
  answer.serving = bytes.size() == 2 && bytes[0] == 8 ? bytes[1] : -1;
  return answer;
}

class GrpcHealthTest : public testing::Test {
 protected:
  void Start() {
    auto server =
        GrpcHealthServer::Create({.address = "127.0.0.1:0", .checks = &checks_, .loop = &loop_});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  Answer Ask(const std::string& service) { return Check(server_->address(), service); }

  SimulatedLoop loop_;
  HealthChecks checks_;
  std::unique_ptr<GrpcHealthServer> server_;
};

const Answer kYes = {grpc::StatusCode::OK, kServing};
const Answer kNo = {grpc::StatusCode::OK, kNotServing};

TEST_F(GrpcHealthTest, FollowsTheChecks) {
  std::atomic<bool> ready = false;
  checks_.Add("scope", [&] { return ready ? absl::OkStatus() : absl::UnavailableError("waits"); });
  Start();
  EXPECT_EQ(Ask(""), kNo);
  EXPECT_EQ(Ask("scope"), kNo);
  EXPECT_EQ(Ask("ping"), kYes);
  EXPECT_EQ(Ask("nobody").code, grpc::StatusCode::NOT_FOUND);
  ready = true;
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Ask(""), kYes);
  EXPECT_EQ(Ask("scope"), kYes);
  checks_.Add("late", [] { return absl::OkStatus(); });
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Ask("late"), kYes);
  EXPECT_EQ(Ask(""), kYes);
}

TEST_F(GrpcHealthTest, LeavesNothingBehind) {
  Start();
  loop_.RunFor(absl::Seconds(5));
  server_.reset();
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST_F(GrpcHealthTest, ReportsWhyItCannotListen) {
  Start();
  const auto with = [&](const std::string& address) {
    return GrpcHealthServer::Create({.address = address, .checks = &checks_, .loop = &loop_})
        .status();
  };
  EXPECT_TRUE(absl::IsUnavailable(with(server_->address())));
  EXPECT_TRUE(absl::IsUnavailable(with("not an address")));
  EXPECT_TRUE(absl::IsInvalidArgument(
      GrpcHealthServer::Create({.checks = nullptr, .loop = &loop_}).status()));
}

}  // namespace
}  // namespace mandate
