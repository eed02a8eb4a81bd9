#include "controllers/certificates/make.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/certificates/mandates.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/controller/testing/controller_fixture.h"
#include "manager/core/strings.h"

namespace mandate::certificates {
namespace {

constexpr char kScope[] = "mandate-manager-scope-webhook-validating";

CertificateOptions Options(const std::vector<std::string>& validating,
                           const std::vector<std::string>& mutating) {
  CertificateOptions options;
  for (const std::string& name : validating) options.validating.push_back({name, {"w"}});
  for (const std::string& name : mutating) options.mutating.push_back({name, {"w"}});
  return options;
}

// Otherwise a new webhook would leave all webhooks without a certificate.
TEST(CheckMayPublish, NamesTheMarkerThatIsMissing) {
  EXPECT_EQ(CheckMayPublish(kWebhookCertificates, Options({kScope}, {})), absl::OkStatus());
  const struct {
    CertificateOptions options;
    const char* marker;
  } cases[] = {
      {Options({kScope, "mandate-manager-x-validating"}, {}),
       "resources=validatingwebhookconfigurations,resourceNames=mandate-manager-x-validating,"},
      {Options({kScope}, {"mandate-manager-x-mutating"}),
       "resources=mutatingwebhookconfigurations,resourceNames=mandate-manager-x-mutating,"},
  };
  for (const auto& c : cases) {
    const absl::Status status = CheckMayPublish(kWebhookCertificates, c.options);
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(c.marker));
  }
}

// The controller, and a server that stores what the component writes.
class MakeControllerTest : public ControllerTest {
 protected:
  using Configuration = admissionregistrationv1::ValidatingWebhookConfiguration;

  MakeControllerTest() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      const bool is_secret = request.target.find("/secrets/") != std::string::npos;
      const auto object = ParseRawObject(request.body, Encoding::kProtobuf);
      EXPECT_TRUE(object.ok()) << object.status();
      is_secret ? Store(*(*object)->Decode<corev1::Secret>())
                : Store(*(*object)->Decode<Configuration>());
      HttpResponse response;
      response.code = 200;
      response.content_type = "application/vnd.kubernetes.protobuf";
      response.body = request.body;
      return response;
    });
    options_.names = {"DNS:webhook.ns.svc"};
    options_.validating = {{kScope, {"w"}}};
  }
  template <class T>
  void Store(T object) {
    cache_.Put(std::move(object));
  }
  absl::StatusOr<std::unique_ptr<Controller>> Make() {
    return MakeController<kWebhookCertificates>(component_, options_);
  }

  CertificateOptions options_;
  FakeRestClient client_{loop_, "webhook-certificates"};
  DiscardingEventRecorder events_;
  Component component_{kWebhookCertificates, client_, events_, Runtime(), "system"};
};

TEST_F(MakeControllerTest, ReconcilesWhenTheSecretOrAConfigurationChanges) {
  corev1::Secret secret;
  secret.mutable_metadata()->set_namespace_("system");
  secret.mutable_metadata()->set_name(options_.secret);
  cache_.Put(secret);
  Start(Make());
  ASSERT_EQ(cache_.demands().size(), 2);
  EXPECT_EQ(cache_.demands()[0].ns, "system");
  EXPECT_EQ(cache_.demands()[0].name, options_.secret);
  EXPECT_EQ(cache_.demands()[1].name, kScope);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(client_.requests(), std::vector<std::string>{
                                    StrCat("PUT /api/v1/namespaces/system/secrets/",
                                           options_.secret, "?fieldManager=webhook-certificates")});
  const std::string put_configuration =
      StrCat("PUT /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/", kScope,
             "?fieldManager=webhook-certificates");
  // It is created, and then somebody removes the bundle.
  for (int i = 0; i < 2; ++i) {
    client_.ForgetRequests();
    Configuration configuration;
    configuration.mutable_metadata()->set_name(kScope);
    configuration.add_webhooks()->set_name("w");
    cache_.Put(configuration);
    loop_.RunFor(absl::Seconds(10));
    EXPECT_EQ(client_.requests(), std::vector<std::string>{put_configuration});
  }
  client_.ForgetRequests();
  cache_.Put(secret);  // without certificates
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(client_.requests().size(), 2);
}

TEST_F(MakeControllerTest, ChecksItsOptions) {
  options_.lifetimes.serving = options_.lifetimes.authority;
  EXPECT_TRUE(absl::IsInvalidArgument(Make().status())) << Make().status();
  options_.lifetimes = {};
  EXPECT_EQ(Make().status(), absl::OkStatus());
  options_.validating.push_back({"another", {"w"}});
  EXPECT_TRUE(absl::IsInvalidArgument(Make().status())) << Make().status();
}

using MakeComponentTest = ControllerTest;

// Certificates that cannot be written expire: the component reports it long before.
TEST_F(MakeComponentTest, IsNotReadyWhileItCannotWrite) {
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
  const ComponentSpec spec = MakeComponent<kWebhookCertificates>(settings);
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
