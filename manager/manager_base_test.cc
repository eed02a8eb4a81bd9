// What a Manager does about its own credential.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "manager/core/clock.h"
#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/manager.h"
#include "manager/testing_base.h"
#include "testing/apiserver/api_server.h"
#include "testing/apiserver/errors.h"

namespace mandate {
namespace {

using apiserver::ApiServer;
using apiserver::kAdminToken;
using apiserver::ServerCore;
using testing::AllOf;
using testing::HasSubstr;

constexpr char kNotKnown[] = "It is not known yet what the manager's own credential may do";

constexpr rbac::Mandate kIdle = {"idle", {}};

constexpr std::string_view kHold[] = {"get", "update"};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr rbac::MandateRule kBaseRules[] = {
    {{kHold, kCoordination, kLeases, {}, {}}, "default", false}};
constexpr rbac::Mandate kBase = {"base", kBaseRules};

// A Manager whose only component has nothing to do, on the double over HTTPS.
class ManagerBaseTest : public testing::Test {
 protected:
  void SetUp() override {
    apiserver::ServerOptions serve;
    serve.objects = {
        R"({"apiVersion":"v1","kind":"ServiceAccount",
            "metadata":{"name":"mandate-manager-idle","namespace":"default"}})",
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
            "metadata":{"name":"mandate-manager","namespace":"default"},"spec":{}})",
    };
    AddBase({"idle"}, serve);
    auto server = ApiServer::Create(std::move(serve));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // Whatever failed, nothing is left that could not end.
  void TearDown() override { stop_.request_stop(); }

  absl::StatusOr<std::unique_ptr<Manager>> NewManager(const char* token = kBaseToken) {
    ManagerOptions options;
    options.cluster.endpoint.server = server_->url();
    options.cluster.endpoint.ca_pem = server_->ca_pem();
    options.cluster.base = StaticToken{std::make_shared<const Secret>(token)};
    if (credential_.has_value()) options.cluster.base = *credential_;
    options.ns = ns_;
    options.version = "test";
    options.base_mandate = &kBase;
    options.health_address = "127.0.0.1:0";
    options.metrics_address = "0";
    options.identity_mode = mode_;
    options.log = Logger(log_, Clock::Real());
    return Manager::Create(
        std::move(options),
        {{&kIdle, [](const Component&) -> absl::StatusOr<Controllers> { return Controllers(); }}});
  }

  // A manager that has the Lease.
  void Run(const char* token = kBaseToken) {
    auto manager = NewManager(token);
    ASSERT_TRUE(manager.ok()) << manager.status();
    manager_ = *std::move(manager);
    runs_ = std::jthread([this] { result_ = manager_->Run(stop_.get_token()); });
    while (Holder().empty()) std::this_thread::yield();
  }

  std::string Holder() {
    std::string holder;
    server_->OnLoop([&](ServerCore& core) {
      const auto lease =
          core.store().Get({"coordination.k8s.io", "leases"}, "default", "mandate-manager");
      if (lease != nullptr) holder = lease->Parse()["spec"]["holderIdentity"].asString();
    });
    return holder;
  }

  // Of the server, to the question what base may do.
  void AnswerReviewsWith(const absl::Status& status) {
    server_->OnLoop([&](ServerCore& core) {
      core.faults().Add({.verb = "create",
                         .path_prefix = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                         .fault = {.refuse = status}});
    });
  }
  void AnswerReviews() {
    server_->OnLoop([](ServerCore& core) { core.faults().Clear(); });
  }

  // What /readyz?verbose says.
  std::string Readyz() const {
    constexpr std::string_view kAddress = "address=127.0.0.1:";
    const std::string line = log_->Last("Serving health probes");
    const int port = std::stoi(line.substr(line.find(kAddress) + kAddress.size()));
    boost::asio::ip::tcp::iostream stream(boost::asio::ip::tcp::endpoint(
        boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)));
    stream << "GET /readyz?verbose HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" << std::flush;
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  void SwapEndsIt() {
    const std::string path = StrCat(testing::TempDir(), "/token");
    std::ofstream(path) << kBaseToken;
    credential_ = TokenFile{path};
    ASSERT_NO_FATAL_FAILURE(Run());
    const std::string holder = Holder();
    std::ofstream(path) << kAdminToken;
    // The file is read again when its token is not accepted any more.
    server_->OnLoop([](ServerCore& core) { core.access().authenticator().Revoke(kBaseToken); });
    runs_.join();
    EXPECT_TRUE(absl::IsFailedPrecondition(result_)) << result_;
    EXPECT_THAT(std::string(result_.message()),
                AllOf(HasSubstr("\"admin\" now"),
                      HasSubstr("\"system:serviceaccount:default:mandate-manager\"")));
    EXPECT_EQ(Holder(), holder) << "the Lease is not given back with it";
  }

  std::unique_ptr<ApiServer> server_;
  IdentityMode mode_ = IdentityMode::kToken;
  std::string ns_ = "default";
  std::optional<TokenFile> credential_;
  const std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  std::unique_ptr<Manager> manager_;
  std::stop_source stop_;
  absl::Status result_;
  std::jthread runs_;
};

TEST_F(ManagerBaseTest, ACredentialThatTheServerDoesNotAcceptIsAnError) {
  EXPECT_TRUE(absl::IsUnauthenticated(NewManager("stolen").status()));
}

// Whatever carries it: what counts is what the server lets it do.
TEST_F(ManagerBaseTest, ACredentialThatMayDoAnythingIsRefused) {
  const absl::Status status = NewManager(kAdminToken).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"admin\""));
  // Without RBAC nobody is denied anything.
  mode_ = IdentityMode::kSingle;
  EXPECT_TRUE(NewManager(kAdminToken).ok());
}

TEST_F(ManagerBaseTest, ACredentialThatMayDoMoreThanItNeedsIsReported) {
  const std::string cluster_wide =
      R"("rules":[{"apiGroups":[""],"resources":["serviceaccounts/token"],"verbs":["create"]}])";
  server_->OnLoop([&](ServerCore& core) {
    ASSERT_TRUE(core.Load(StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
        "kind":"ClusterRole","metadata":{"name":"minter"},)",
                                 cluster_wide, "}"))
                    .ok());
    ASSERT_TRUE(core.Load(R"({"apiVersion":"rbac.authorization.k8s.io/v1",
        "kind":"ClusterRoleBinding","metadata":{"name":"minter"},
        "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"minter"},
        "subjects":[{"kind":"ServiceAccount","name":"mandate-manager","namespace":"default"}]})")
                    .ok());
  });
  ASSERT_TRUE(NewManager().ok());
  EXPECT_EQ(log_->Count("create serviceaccounts/token (of every ServiceAccount)"), 1);
}

// The manager would look for its Lease and its components' ServiceAccounts in the wrong namespace.
TEST_F(ManagerBaseTest, AnotherNamespaceThanBasesIsReported) {
  constexpr char kOther[] = "is in another namespace than --namespace";
  ASSERT_TRUE(NewManager().ok());
  EXPECT_EQ(log_->Count(kOther), 0);
  ns_ = "othr";
  ASSERT_TRUE(NewManager().ok());
  EXPECT_EQ(log_->Count(kOther), 1);
}

// Somebody writes another user's token where base's was, and the manager would act as that user.
TEST_F(ManagerBaseTest, ACredentialThatBecomesSomebodyElsesEndsIt) { SwapEndsIt(); }

// The question what base may do has no answer; whose it is, has.
TEST_F(ManagerBaseTest, ACredentialThatBecomesSomebodyElsesEndsItWhileItsPowerIsNotKnown) {
  AnswerReviewsWith(apiserver::InternalError("etcd is away"));
  SwapEndsIt();
  EXPECT_EQ(log_->Count(kNotKnown), 1) << "once, however often it is asked";
}

TEST_F(ManagerBaseTest, ACredentialThatMayDoAnythingIsRefusedWhenThatIsKnown) {
  AnswerReviewsWith(apiserver::InternalError("etcd is away"));
  ASSERT_NO_FATAL_FAILURE(Run(kAdminToken));
  EXPECT_THAT(Readyz(), AllOf(HasSubstr("warn: base: "), HasSubstr("etcd is away")));
  AnswerReviews();
  runs_.join();
  EXPECT_TRUE(absl::IsFailedPrecondition(result_)) << result_;
  EXPECT_THAT(std::string(result_.message()),
              AllOf(HasSubstr("\"admin\""), HasSubstr("may do anything")));
}

// A credential that may do anything may ask this.
TEST_F(ManagerBaseTest, AServerThatDeniesTheQuestionIsWorkedWith) {
  AnswerReviewsWith(apiserver::ForbiddenError({"authorization.k8s.io", "selfsubjectaccessreviews"},
                                              "", "nobody may ask"));
  ASSERT_NO_FATAL_FAILURE(Run());
  EXPECT_THAT(Readyz(), AllOf(HasSubstr("warn: base: "), HasSubstr("nobody may ask")));
  EXPECT_EQ(log_->Count(kNotKnown), 1);
  AnswerReviews();
  while (Readyz().find("warn: base") != std::string::npos) std::this_thread::yield();
  stop_.request_stop();
  runs_.join();
  EXPECT_TRUE(result_.ok()) << result_;
}

TEST_F(ManagerBaseTest, WithoutAnAnswerWhoseTheCredentialIsNothingStarts) {
  server_->OnLoop([](ServerCore& core) {
    core.faults().Add({.verb = "create",
                       .path_prefix = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                       .fault = {.refuse = apiserver::ForbiddenError(
                                     {"authentication.k8s.io", "selfsubjectreviews"}, "", "no")}});
  });
  EXPECT_TRUE(absl::IsUnavailable(NewManager().status())) << NewManager().status();
}

}  // namespace
}  // namespace mandate
