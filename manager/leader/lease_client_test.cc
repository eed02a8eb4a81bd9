#include "manager/leader/lease_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

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
    std::optional<absl::StatusOr<Lease>> result;
    client_.Get({}, [&](absl::StatusOr<Lease> lease) { result = std::move(lease); });
    loop_.RunFor(absl::Seconds(1));
    EXPECT_TRUE(result.has_value());
    return *result;
  }
  absl::StatusOr<Lease> Create() {
    std::optional<absl::StatusOr<Lease>> result;
    client_.Create({}, [&](absl::StatusOr<Lease> lease) { result = std::move(lease); });
    loop_.RunFor(absl::Seconds(1));
    EXPECT_TRUE(result.has_value());
    return *result;
  }
  absl::StatusOr<Lease> Update(const Lease& lease) {
    std::optional<absl::StatusOr<Lease>> result;
    client_.Update({}, lease, [&](absl::StatusOr<Lease> stored) { result = std::move(stored); });
    loop_.RunFor(absl::Seconds(1));
    EXPECT_TRUE(result.has_value());
    return *result;
  }

  SimulatedLoop loop_;
  LeaseServer server_{loop_};
  LossyLeaseClient rest_{server_, loop_, absl::ZeroDuration()};
  LeaseClient client_{rest_, {"system", "leader"}};
};

TEST_F(LeaseClientTest, ReadsAndUpdates) {
  server_.Create();
  auto lease = Get();
  ASSERT_TRUE(lease.ok()) << lease.status();
  lease->mutable_spec()->set_holderidentity("me");
  const auto stored = Update(*lease);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_NE(stored->metadata().resourceversion(), lease->metadata().resourceversion());
  EXPECT_EQ(server_.spec().holderidentity(), "me");
  EXPECT_TRUE(absl::IsAborted(Update(*lease).status()));  // an old resourceVersion
}

TEST_F(LeaseClientTest, KeepsUnknownFields) {
  server_.Create();
  Lease newer;
  newer.mutable_spec()->mutable_unknown_fields()->AddLengthDelimited(99, "of a newer server");
  rest_.fault = [&newer](const RestRequest& request) {
    LossyLeaseClient::Fault fault;
    if (request.method == "PUT") return fault;
    fault.reply.emplace().code = 200;
    fault.reply->content_type = "application/vnd.kubernetes.protobuf";
    fault.reply->body = *EncodeObject(newer, Encoding::kProtobuf);
    return fault;
  };
  auto lease = Get();
  ASSERT_TRUE(lease.ok());
  (void)Update(*lease);
  const auto sent = DecodeObject<Lease>(rest_.requests.back().second.body, Encoding::kProtobuf);
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->spec().unknown_fields().field_count(), 1);
}

TEST_F(LeaseClientTest, ReadsAJsonAnswer) {
  server_.Create();
  rest_.fault = [](const RestRequest&) {
    LossyLeaseClient::Fault fault;
    fault.reply.emplace();
    fault.reply->code = 200;
    fault.reply->content_type = "application/json";
    fault.reply->body =
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"leader"},)"
        R"("spec":{"holderIdentity":"me","renewTime":"2026-11-21T02:27:45.123456Z"}})";
    return fault;
  };
  const auto lease = Get();
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->spec().holderidentity(), "me");
  EXPECT_EQ(lease->spec().renewtime().nanos(), 123456000);
}

TEST_F(LeaseClientTest, CreatesAnEmptyLease) {
  EXPECT_TRUE(absl::IsNotFound(Get().status()));
  const auto created = Create();
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_FALSE(created->spec().has_holderidentity());
  EXPECT_EQ(rest_.requests.back().second.body,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
            R"("metadata":{"name":"leader","namespace":"system"}})");
  EXPECT_TRUE(Update(*created).ok());
}

TEST_F(LeaseClientTest, KeepsAnExistingLease) {
  server_.Create();
  server_.Edit([](Lease& lease) { lease.mutable_spec()->set_holderidentity("other"); });
  const auto lease = Create();
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->spec().holderidentity(), "other");
}

TEST_F(LeaseClientTest, AMissingPermissionIsReportedWithItsRule) {
  rest_.fault = [](const RestRequest&) {
    LossyLeaseClient::Fault fault;
    fault.reply.emplace();
    fault.reply->code = 403;
    return fault;
  };
  const absl::Status status = Get().status();
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("base may not use Lease system/leader"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("resourceNames: [leader]\n  verbs: [create, get, patch, update]"));
}

}  // namespace
}  // namespace mandate
