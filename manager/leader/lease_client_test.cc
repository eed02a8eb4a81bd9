#include "manager/leader/lease_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "manager/core/testing/must.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/leader/testing/lease_server.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using coordinationv1::Lease;
using testing::HasSubstr;

class LeaseClientTest : public testing::Test {
 protected:
  absl::StatusOr<Lease> Get() {
    return Result([&](auto done) { client_.Get({}, std::move(done)); });
  }
  absl::StatusOr<Lease> Create() {
    return Result([&](auto done) { client_.Create({}, std::move(done)); });
  }
  absl::StatusOr<Lease> Update(const Lease& lease) {
    return Result([&](auto done) { client_.Update({}, lease, std::move(done)); });
  }
  absl::StatusOr<Lease> Result(const std::function<void(LeaseClient::Done)>& call) {
    std::optional<absl::StatusOr<Lease>> result;
    call([&](absl::StatusOr<Lease> lease) { result = std::move(lease); });
    loop_.RunFor(absl::Seconds(1));
    EXPECT_TRUE(result.has_value());
    return *result;
  }
  // The server's response to each request with `method`.
  void Reply(std::string method, int code, std::string content_type = "", std::string body = "") {
    HttpResponse reply;
    reply.code = code;
    reply.content_type = std::move(content_type);
    reply.body = std::move(body);
    rest_.fault = [method = std::move(method), reply](const RestRequest& request) {
      LossyLeaseClient::Fault fault;
      if (request.method == method) fault.reply = reply;
      return fault;
    };
  }

  SimulatedLoop loop_;
  LeaseServer server_{loop_};
  LossyLeaseClient rest_{server_, loop_, absl::ZeroDuration()};
  LeaseClient client_{rest_, {"system", "leader"}};
};

TEST_F(LeaseClientTest, ReadsAndUpdates) {
  server_.Create();
  auto lease = Must(Get());
  lease.mutable_spec()->set_holderidentity("me");
  const auto stored = Must(Update(lease));
  EXPECT_NE(stored.metadata().resourceversion(), lease.metadata().resourceversion());
  EXPECT_EQ(server_.spec().holderidentity(), "me");
  EXPECT_TRUE(absl::IsAborted(Update(lease).status()));  // an old resourceVersion
}

TEST_F(LeaseClientTest, KeepsUnknownFields) {
  server_.Create();
  Lease newer;
  newer.mutable_spec()->mutable_unknown_fields()->AddLengthDelimited(99, "of a newer server");
  Reply("GET", 200, "application/vnd.kubernetes.protobuf",
        *EncodeObject(newer, Encoding::kProtobuf));
  auto lease = Get();
  ASSERT_TRUE(lease.ok());
  (void)Update(*lease);
  const auto sent =
      Must(DecodeObject<Lease>(rest_.requests.back().second.body, Encoding::kProtobuf));
  EXPECT_EQ(sent.spec().unknown_fields().field_count(), 1);
}

TEST_F(LeaseClientTest, ReadsAJsonAnswer) {
  server_.Create();
  Reply("GET", 200, "application/json",
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"leader"},)"
        R"("spec":{"holderIdentity":"me","renewTime":"2026-11-21T02:27:45.123456Z"}})");
  const auto lease = Must(Get());
  EXPECT_EQ(lease.spec().holderidentity(), "me");
  EXPECT_EQ(lease.spec().renewtime().nanos(), 123456000);
}

TEST_F(LeaseClientTest, CreatesAnEmptyLease) {
  EXPECT_TRUE(absl::IsNotFound(Get().status()));
  const auto created = Must(Create());
  EXPECT_FALSE(created.spec().has_holderidentity());
  EXPECT_EQ(rest_.requests.back().second.body,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
            R"("metadata":{"name":"leader","namespace":"system"}})");
  EXPECT_TRUE(Update(created).ok());
}

TEST_F(LeaseClientTest, KeepsAnExistingLease) {
  server_.Create();
  server_.Edit([](Lease& lease) { lease.mutable_spec()->set_holderidentity("other"); });
  const auto lease = Must(Create());
  EXPECT_EQ(lease.spec().holderidentity(), "other");
}

TEST_F(LeaseClientTest, AMissingPermissionIsReportedWithItsRule) {
  Reply("GET", 403);
  const absl::Status status = Get().status();
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("base may not use Lease system/leader"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("resourceNames: [leader]\n  verbs: [create, get, patch, update]"));
}

}  // namespace
}  // namespace mandate
