#include "manager/admission/webhook_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/event_loop.h"
#include "manager/core/thread_pool.h"
#include "manager/serving/testing/tls_client.h"

namespace mandate {
namespace {

using testing::HasSubstr;

constexpr char kReview[] =
    R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u"}})";

class WebhookServerTest : public testing::Test {
 protected:
  // A component with a webhook that warns with the component's name.
  std::unique_ptr<ComponentWebhooks> Make(const std::string& component, const std::string& path) {
    Webhooks webhooks;
    webhooks.hooks.push_back({path, [component](AdmissionCall& call) {
                                call.Warn(component);
                                SetVerdict(absl::OkStatus(), call);
                              }});
    return std::make_unique<ComponentWebhooks>(
        ComponentWebhooks::Options{.component = component,
                                   .webhooks = std::move(webhooks),
                                   .workers = workers_,
                                   .loop = *loop_,
                                   .metrics = metrics_});
  }
  absl::StatusOr<std::unique_ptr<WebhookServer>> Serve(std::vector<ComponentWebhooks*> components,
                                                       const std::string& address) {
    return WebhookServer::Create({.address = address,
                                  .certificate = *certificate_,
                                  .components = std::move(components),
                                  .metrics = metrics_});
  }

  // A worker still counts the end of a review after the client has the answer: it ends first.
  Metrics metrics_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create({}).value();
  const std::unique_ptr<ServingCertificate> certificate_ = ServingCertificate::Create({}).value();
  ThreadPool workers_{2};
};

TEST_F(WebhookServerTest, ServesTheWebhooksOfAllComponents) {
  const auto one = Make("one", "/validate-one");
  const auto two = Make("two", "/validate-two");
  const auto server = Serve({one.get(), two.get()}, "127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  for (const std::string name : {"one", "two"}) {
    const TlsAnswer answer = PostByTls((*server)->address(), "/validate-" + name, kReview);
    EXPECT_EQ(answer.code, 200u);
    EXPECT_THAT(answer.body, HasSubstr("\"warnings\":[\"" + name + "\"]"));
  }
  const TlsAnswer unknown = PostByTls((*server)->address(), "/validate-three", kReview);
  EXPECT_EQ(unknown.code, 404u);
  EXPECT_THAT(unknown.body, HasSubstr("POST /validate-one\n"));
  EXPECT_TRUE(PostByTls((*server)->address(), "/validate-one", kReview).keep_alive);
  (*server)->Drain();
  const TlsAnswer last = PostByTls((*server)->address(), "/validate-one", kReview);
  EXPECT_EQ(last.code, 200u);
  EXPECT_FALSE(last.keep_alive);
}

// The API server opens one for each review that is in flight.
TEST_F(WebhookServerTest, HoldsAsManyConnectionsAsReviewsMayBeInFlight) {
  const auto one = Make("one", "/validate");
  const auto server = Serve({one.get()}, "127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string& address = (*server)->address();
  boost::asio::io_context io;
  std::vector<boost::asio::ip::tcp::socket> held;
  for (size_t i = 0; i < WebhookLimits().max_in_flight; ++i) {
    held.emplace_back(io).connect(
        {boost::asio::ip::make_address("127.0.0.1"),
         static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)))});
  }
  EXPECT_EQ(PostByTls(address, "/validate", kReview).code, 200u);
  EXPECT_EQ(
      metrics_.Counter("mandate_http_connections_refused_total", "", {{"address", "127.0.0.1:0"}})
          .Value(),
      0);
}

TEST_F(WebhookServerTest, RejectsInvalidOptions) {
  const auto one = Make("one", "/validate");
  const auto two = Make("two", "/validate");
  const absl::Status same = Serve({one.get(), two.get()}, "127.0.0.1:0").status();
  EXPECT_TRUE(absl::IsInvalidArgument(same)) << same;
  EXPECT_THAT(std::string(same.message()), HasSubstr("two components have the webhook /validate"));
  const absl::Status nowhere = Serve({one.get()}, "nowhere").status();
  EXPECT_TRUE(absl::IsInvalidArgument(nowhere)) << nowhere;
  EXPECT_THAT(std::string(nowhere.message()), HasSubstr("--webhook-bind-address: "));
}

}  // namespace
}  // namespace mandate
