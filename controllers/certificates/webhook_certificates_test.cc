#include "controllers/certificates/webhook_certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/controller/testing/controller_fixture.h"

namespace mandate::certificates {
namespace {

using testing::ElementsAre;

TEST(NameConfigurations, AreThoseOfTheChart) {
  static constexpr rbac::DeclaredWebhook kBoth[] = {
      {"/a", false, "a"}, {"/b", true, "b"}, {"/c", true, "c"}};
  static constexpr rbac::DeclaredWebhook kOne[] = {{"/d", false, "d"}};
  static constexpr rbac::Mandate kFirst{"first", {}, kBoth}, kSecond{"second", {}, kOne},
      kNone{"none", {}};
  CertificateOptions options;
  NameConfigurations({{&kFirst}, {&kSecond}, {&kNone}}, options);
  using Configuration = PublishedConfiguration;
  EXPECT_THAT(options.validating,
              ElementsAre(Configuration{"mandate-manager-first-validating", {"a"}},
                          Configuration{"mandate-manager-second-validating", {"d"}}));
  EXPECT_THAT(options.mutating,
              ElementsAre(Configuration{"mandate-manager-first-mutating", {"b", "c"}}));
}

using WebhookCertificatesTest = ControllerTest;

// Certificates that cannot be written expire: the component reports it long before.
TEST_F(WebhookCertificatesTest, IsNotReadyWhileItCannotWrite) {
  FakeRestClient client{loop_, "webhook-certificates"};
  client.Handle([](const RestRequest&) { return absl::UnavailableError("the server is down"); });
  DiscardingEventRecorder events;
  const Component component{kWebhookCertificates, client, events, Runtime(), "system"};
  auto settings = std::make_shared<Settings>();
  settings->options.names = {"DNS:webhook.ns.svc"};
  corev1::Secret secret;
  secret.mutable_metadata()->set_namespace_("system");
  secret.mutable_metadata()->set_name(settings->options.secret);
  cache_.Put(secret);
  const ComponentSpec spec = WebhookCertificates(settings);
  auto controllers = spec.make_controllers(component);
  ASSERT_TRUE(controllers.ok()) << controllers.status();
  ASSERT_EQ(controllers->size(), 1);
  Start(std::move(controllers->front()));
  loop_.RunFor(absl::Seconds(50));
  EXPECT_EQ(spec.ready(), absl::OkStatus()) << "a retry may succeed";
  loop_.RunFor(absl::Minutes(5));
  EXPECT_TRUE(absl::IsUnavailable(spec.ready())) << spec.ready();
  Stop();
  controller_.reset();
}

}  // namespace
}  // namespace mandate::certificates
