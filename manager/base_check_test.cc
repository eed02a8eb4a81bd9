#include "manager/base_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/testing/test_pki.h"

namespace mandate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CheckServerTest : public testing::Test {
 protected:
  absl::Status Check(absl::StatusOr<HttpResponse> answer) {
    client_.Handle([&](const RestRequest& request) {
      EXPECT_EQ(request.method, "GET");
      EXPECT_EQ(request.target, "/version");
      EXPECT_TRUE(request.idempotent);
      return answer;
    });
    Endpoint endpoint;
    endpoint.server = "https://10.0.0.1:6443";
    return CheckServer({loop_.clock().TimeNow() + absl::Seconds(15), {}}, client_, endpoint);
  }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "base"};
};

TEST_F(CheckServerTest, AcceptsAnyAnswer) {
  EXPECT_TRUE(Check(FakeRestClient::Json(200, "{}")).ok());
}

TEST_F(CheckServerTest, ErrorsNameServerReasonAndNextStep) {
  const absl::Status refused = Check(absl::UnauthenticatedError("Unauthorized"));
  EXPECT_TRUE(absl::IsUnauthenticated(refused));
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("https://10.0.0.1:6443"), HasSubstr("token")));
  for (const absl::Status& status : {absl::UnavailableError("connection refused"),
                                     absl::DeadlineExceededError("no answer in time")}) {
    const absl::Status unreachable = Check(status);
    EXPECT_TRUE(absl::IsUnavailable(unreachable));
    EXPECT_THAT(std::string(unreachable.message()),
                AllOf(HasSubstr("https://10.0.0.1:6443"), HasSubstr(std::string(status.message())),
                      HasSubstr("check that it is running")));
  }
}

TEST_F(CheckServerTest, AddsNoSecondNextStep) {
  const struct {
    absl::Status why;
    const char* ends;
  } rows[] = {
      {absl::UnavailableError("its certificate is not trusted; check this machine's clock"),
       "6443: its certificate is not trusted; check this machine's clock"},
      {absl::InvalidArgumentError("the token holds a line break"), "the token holds a line break"},
      {absl::DeadlineExceededError("took too long"), "address and CA are correct"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(std::string(Check(row.why).message()), testing::EndsWith(row.ends));
  }
}

TEST_F(CheckServerTest, ReturnsAMissingCredentialUnchanged) {
  const absl::Status none = absl::FailedPreconditionError("the credential plugin aws is not there");
  EXPECT_EQ(Check(none), none);
}

TEST_F(CheckServerTest, WaitsForAServerThatStarts) {
  const absl::Time up = loop_.clock().TimeNow() + absl::Seconds(10);
  int asked = 0;
  client_.Handle([&](const RestRequest&) -> absl::StatusOr<HttpResponse> {
    ++asked;
    if (loop_.clock().TimeNow() < up) return absl::UnavailableError("connection refused");
    return FakeRestClient::Json(200, "{}");
  });
  const absl::Time begin = loop_.clock().TimeNow();
  EXPECT_TRUE(CheckServer({begin + absl::Seconds(15), {}}, client_, {}).ok());
  EXPECT_LE(loop_.clock().TimeNow() - begin, absl::Seconds(11));
  EXPECT_LE(asked, 12);
}

TEST_F(CheckServerTest, StopsAtTheDeadline) {
  client_.Handle([](const RestRequest&) { return absl::UnavailableError("connection refused"); });
  const absl::Time begin = loop_.clock().TimeNow();
  EXPECT_TRUE(absl::IsUnavailable(CheckServer({begin + absl::Seconds(15), {}}, client_, {})));
  EXPECT_GE(loop_.clock().TimeNow() - begin, absl::Seconds(13));
  EXPECT_LE(loop_.clock().TimeNow() - begin, absl::Seconds(15));
}

class AskBaseUserTest : public testing::Test {
 protected:
  absl::StatusOr<std::string> Ask() {
    return AskBaseUser({begin_ + absl::Seconds(15), {}}, client_);
  }

  SimulatedLoop loop_;
  const absl::Time begin_ = loop_.clock().TimeNow();
  FakeRestClient client_{loop_, "base"};
};

TEST_F(AskBaseUserTest, RetriesWhileTheServerIsBusy) {
  client_.Handle([&](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
    EXPECT_EQ(request.target, "/apis/authentication.k8s.io/v1/selfsubjectreviews");
    if (loop_.clock().TimeNow() < begin_ + absl::Seconds(5)) {
      return absl::ResourceExhaustedError("too many requests");
    }
    return FakeRestClient::Json(201, R"({"status":{"userInfo":{"username":"base"}}})");
  });
  const auto user = Ask();
  ASSERT_TRUE(user.ok()) << user.status();
  EXPECT_EQ(*user, "base");
}

TEST_F(AskBaseUserTest, ErrorNamesTheNextStep) {
  for (const absl::Status& status :
       {absl::InternalError("etcd is away"), absl::PermissionDeniedError("nobody may ask")}) {
    client_.Handle([&](const RestRequest&) { return status; });
    const auto user = Ask();
    EXPECT_TRUE(absl::IsUnavailable(user.status()));
    EXPECT_THAT(std::string(user.status().message()),
                AllOf(HasSubstr(std::string(status.message())), HasSubstr("system:basic-user")));
  }
}

TEST_F(AskBaseUserTest, DoesNotRetryADenial) {
  client_.Handle([](const RestRequest&) { return absl::PermissionDeniedError("nobody may ask"); });
  EXPECT_FALSE(Ask().ok());
  EXPECT_EQ(client_.requests().size(), 1u);
}

TEST(CheckNamespaceTest, RejectsOnlyAnotherNamespaceWithoutThePermission) {
  const rbac::Rule needed{.verbs = {"get"},
                          .api_groups = {"coordination.k8s.io"},
                          .resources = {"leases"},
                          .resource_names = {"mandate-manager"}};
  const auto allowed = FakeRestClient::Json(201, R"({"status":{"allowed":true}})");
  const auto denied = FakeRestClient::Json(201, R"({"status":{"allowed":false}})");
  const struct {
    const char* name;
    const char* user;
    absl::StatusOr<HttpResponse> answer;
    bool ok;
  } rows[] = {
      {"the same namespace", "system:serviceaccount:ns:base", denied, true},
      {"not a ServiceAccount", "base", denied, true},
      {"a grant across namespaces", "system:serviceaccount:home:base", allowed, true},
      {"no answer", "system:serviceaccount:home:base", absl::InternalError("etcd"), true},
      {"another namespace", "system:serviceaccount:home:base", denied, false},
  };
  for (const auto& row : rows) {
    SimulatedLoop loop;
    FakeRestClient client(loop, "base");
    client.Handle([&](const RestRequest&) { return row.answer; });
    const absl::Status status = CheckNamespace({loop.clock().TimeNow() + absl::Seconds(15), {}},
                                               client, row.user, "ns", needed);
    EXPECT_EQ(status.ok(), row.ok) << row.name << ": " << status;
    if (status.ok()) continue;
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr("namespace \"ns\", where its own ServiceAccount home/base may not get "
                        "leases; use --namespace=home")));
  }
}

ClusterConfig WithCertificate(const std::string& pem) {
  ClusterConfig config;
  config.base = ClientCertificate{pem, std::make_shared<const Secret>("key")};
  return config;
}

TEST(RefuseAdministratorTest, RejectsOnlyAnAdministratorsCertificate) {
  const TestCa ca;
  EXPECT_TRUE(
      RejectAdministrator(WithCertificate(ca.IssueClient("manager").certificate_pem), "acme").ok());
  EXPECT_TRUE(
      RejectAdministrator(
          WithCertificate(ca.IssueClient("x", {"system:masters-not"}).certificate_pem), "acme")
          .ok());
  for (const std::vector<std::string>& groups :
       {std::vector<std::string>{"system:masters"}, {"others", "system:masters"}}) {
    const absl::Status status = RejectAdministrator(
        WithCertificate(ca.IssueClient("admin", groups).certificate_pem), "acme");
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("kubectl create token acme -n NAMESPACE"));
  }
  ClusterConfig token;
  token.base = TokenFile{"/token"};
  EXPECT_TRUE(RejectAdministrator(token, "acme").ok());
}

TEST(RefuseAdministratorTest, RejectsInvalidCertificates) {
  EXPECT_TRUE(absl::IsInvalidArgument(RejectAdministrator(WithCertificate("nonsense"), "acme")));
  EXPECT_TRUE(absl::IsInvalidArgument(RejectAdministrator(WithCertificate(""), "acme")));
}

}  // namespace
}  // namespace mandate
