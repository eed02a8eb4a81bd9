// The checks that a Manager makes of its own credential.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "manager/core/strings.h"
#include "manager/testing_manager.h"
#include "testing/apiserver/errors.h"

namespace mandate {
namespace {

using apiserver::kAdminToken;
using apiserver::ServerCore;
using testing::AllOf;
using testing::HasSubstr;

constexpr char kNotKnown[] = "The permissions of the manager's own credential are still unknown";

constexpr rbac::Mandate kIdle = {"idle", {}};

// A Manager with one component, which does nothing.
class ManagerBaseTest : public testing::Test {
 protected:
  ManagerBaseTest() { test_.options.health_address = "127.0.0.1:0"; }

  std::vector<ComponentSpec> Components() const {
    return {
        {&kIdle, [](const Component&) -> absl::StatusOr<Controllers> { return Controllers(); }}};
  }
  absl::StatusOr<std::unique_ptr<Manager>> Create(const char* token = kBaseToken) {
    UseToken(token);
    return test_.Create(Components());
  }
  void UseToken(const char* token) {
    test_.options.cluster.base = StaticToken{std::make_shared<const Secret>(token)};
  }

  // Returns when the manager has the Lease.
  void Run() {
    test_.Run(Components());
    while (test_.Holder().empty()) std::this_thread::yield();
  }

  // Makes the server answer SelfSubjectAccessReviews with an error.
  void FailReviews(const absl::Status& status) {
    test_.server().OnLoop([&](ServerCore& core) {
      core.faults().Add({.verb = "create",
                         .path_prefix = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                         .fault = {.refuse = status}});
    });
  }
  void AnswerReviews() {
    test_.server().OnLoop([](ServerCore& core) { core.faults().Clear(); });
  }

  // The answer to /readyz?verbose.
  std::string Readyz() {
    constexpr std::string_view kAddress = "address=127.0.0.1:";
    const std::string line = test_.log().Last("Serving health probes");
    const int port = std::stoi(line.substr(line.find(kAddress) + kAddress.size()));
    boost::asio::ip::tcp::iostream stream(boost::asio::ip::tcp::endpoint(
        boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)));
    stream << "GET /readyz?verbose HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" << std::flush;
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  // The token file gets another user's token while the manager runs.
  void ReplaceTokenWhileItRuns() {
    const std::string path = StrCat(testing::TempDir(), "/token");
    std::ofstream(path) << kBaseToken;
    test_.options.cluster.base = TokenFile{path};
    Run();
    const std::string holder = test_.Holder();
    std::ofstream(path) << kAdminToken;
    // The file is read again when its token is no longer accepted.
    test_.server().OnLoop(
        [](ServerCore& core) { core.access().authenticator().Revoke(kBaseToken); });
    const absl::Status result = test_.Join();
    EXPECT_TRUE(absl::IsFailedPrecondition(result)) << result;
    EXPECT_THAT(std::string(result.message()),
                AllOf(HasSubstr("\"admin\" now"),
                      HasSubstr("\"system:serviceaccount:default:mandate-manager\"")));
    EXPECT_EQ(test_.Holder(), holder) << "another user's token must not release the Lease";
  }

  TestManager test_{{&kIdle}};
};

// The chart is generated from the same sources as the base mandate: it would lack the component.
TEST_F(ManagerBaseTest, RejectsAComponentThatTheBaseMandateLacks) {
  constexpr static std::string_view kCreate[] = {"create"};
  constexpr static std::string_view kCore[] = {""};
  constexpr static std::string_view kTokens[] = {"serviceaccounts/token"};
  constexpr static std::string_view kOthers[] = {"mandate-manager-other"};
  constexpr static rbac::MandateRule kRules[] = {{{kCreate, kCore, kTokens, kOthers, {}}}};
  constexpr static rbac::Mandate kBase = {"base", kRules};
  test_.options.base_mandate = &kBase;
  const absl::Status status = Create().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("create tokens for ServiceAccount mandate-manager-idle"),
                    HasSubstr("add the sources of component idle")));
  // Modes without such tokens, and an operator without a guard, do not need it.
  test_.options.guard = GuardMode::kOff;
  EXPECT_EQ(Create().status(), absl::OkStatus());
  test_.options.guard = GuardMode::kEnforce;
  test_.options.identity_mode = IdentityMode::kSingle;
  EXPECT_EQ(Create().status(), absl::OkStatus());
}

TEST_F(ManagerBaseTest, RejectsACredentialThatTheServerDoesNotAccept) {
  EXPECT_TRUE(absl::IsUnauthenticated(Create("stolen").status()));
}

TEST_F(ManagerBaseTest, RejectsACredentialThatMayDoAnything) {
  const absl::Status status = Create(kAdminToken).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"admin\""));
  // Without RBAC the server denies no request.
  test_.options.identity_mode = IdentityMode::kSingle;
  EXPECT_TRUE(Create(kAdminToken).ok());
}

TEST_F(ManagerBaseTest, LogsPermissionsThatBaseDoesNotNeed) {
  test_.server().OnLoop([](ServerCore& core) {
    ASSERT_TRUE(core.Load(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
        "kind":"ClusterRole","metadata":{"name":"token-requester"},
        "rules":[{"apiGroups":[""],"resources":["serviceaccounts/token"],"verbs":["create"]}]})")
                    .ok());
    ASSERT_TRUE(core.Load(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
        "kind":"ClusterRoleBinding","metadata":{"name":"token-requester"},
        "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"token-requester"},
        "subjects":[{"kind":"ServiceAccount","name":"mandate-manager","namespace":"default"}]})")
                    .ok());
  });
  ASSERT_TRUE(Create().ok());
  EXPECT_EQ(test_.log().Count("create serviceaccounts/token (acts as these ServiceAccounts)"), 1);
}

// The manager would look for its Lease and its components' ServiceAccounts in the wrong namespace.
TEST_F(ManagerBaseTest, RejectsANamespaceInWhichBaseHasNoPermissions) {
  test_.options.ns = "othr";
  for (const bool elects : {true, false}) {
    test_.options.leader_elect = elects;
    const absl::Status status = Create().status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("--namespace: "), HasSubstr("\"othr\""),
                      HasSubstr(elects ? "may not get leases" : "create serviceaccounts/token"),
                      HasSubstr("; use --namespace=default")));
  }
  // Without a Lease and tokens, base needs nothing in the namespace.
  test_.options.identity_mode = IdentityMode::kSingle;
  EXPECT_EQ(Create().status(), absl::OkStatus());
}

TEST_F(ManagerBaseTest, EndsWhenTheTokenBecomesAnotherUsers) { ReplaceTokenWhileItRuns(); }

TEST_F(ManagerBaseTest, EndsWhenTheTokenBecomesAnotherUsersWhileItsPermissionsAreUnknown) {
  FailReviews(apiserver::InternalError("etcd is away"));
  ReplaceTokenWhileItRuns();
  EXPECT_EQ(test_.log().Count(kNotKnown), 1) << "one line for all tries";
}

TEST_F(ManagerBaseTest, EndsWhenALateAnswerSaysThatItMayDoAnything) {
  FailReviews(apiserver::InternalError("etcd is away"));
  UseToken(kAdminToken);
  Run();
  EXPECT_THAT(Readyz(), AllOf(HasSubstr("warn: base: "), HasSubstr("etcd is away")));
  AnswerReviews();
  const absl::Status result = test_.Join();
  EXPECT_TRUE(absl::IsFailedPrecondition(result)) << result;
  EXPECT_THAT(std::string(result.message()),
              AllOf(HasSubstr("\"admin\""), HasSubstr("may do anything")));
}

// A credential that may do anything would not be denied.
TEST_F(ManagerBaseTest, RunsWithAWarningWhereTheServerDeniesTheReview) {
  FailReviews(apiserver::ForbiddenError({"authorization.k8s.io", "selfsubjectaccessreviews"}, "",
                                        "nobody may ask"));
  Run();
  EXPECT_THAT(Readyz(), AllOf(HasSubstr("warn: base: "), HasSubstr("nobody may ask")));
  EXPECT_EQ(test_.log().Count(kNotKnown), 1);
  AnswerReviews();
  while (Readyz().find("warn: base") != std::string::npos) std::this_thread::yield();
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
}

TEST_F(ManagerBaseTest, RejectsACredentialWhoseUserIsUnknown) {
  test_.server().OnLoop([](ServerCore& core) {
    core.faults().Add({.verb = "create",
                       .path_prefix = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                       .fault = {.refuse = apiserver::ForbiddenError(
                                     {"authentication.k8s.io", "selfsubjectreviews"}, "", "no")}});
  });
  const absl::Status status = Create().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

}  // namespace
}  // namespace mandate
