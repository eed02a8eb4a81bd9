#include "manager/admission/webhook_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

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

  std::unique_ptr<EventLoop> loop_ = EventLoop::Create({}).value();
  ThreadPool workers_{2};
  const std::unique_ptr<ServingCertificate> certificate_ = ServingCertificate::Create({}).value();
  Metrics metrics_;
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
  (*server)->Drain();
  EXPECT_EQ(PostByTls((*server)->address(), "/validate-one", kReview).code, 200u);
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
