// In which configurations the reconciler publishes its authorities, and when it relies on them; and
// what a replica serves. The writes are the test's.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/certificates/make.h"
#include "controllers/certificates/mandates.h"
#include "controllers/certificates/reconciler.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate::certificates {
namespace {

using admissionregistrationv1::MutatingWebhookConfiguration;
using admissionregistrationv1::ValidatingWebhookConfiguration;
using corev1::Secret;

constexpr char kNamespace[] = "mandate-system";
constexpr CertificateLifetimes kLifetimes{.authority = absl::Hours(400),
                                          .serving = absl::Hours(40)};

class PublicationTest : public testing::Test {
 protected:
  PublicationTest() {
    for (const DemandSpec& spec :
         {DemandSpec{KindOf<Secret>::value, kNamespace, options_.secret},
          DemandSpec{KindOf<ValidatingWebhookConfiguration>::value, "", "v1"},
          DemandSpec{KindOf<ValidatingWebhookConfiguration>::value, "", "v2"},
          DemandSpec{KindOf<MutatingWebhookConfiguration>::value, "", "m1"}}) {
      demands_.push_back(view_.Demand(spec, nullptr));
    }
    loop_.RunReady();
    Secret secret;
    secret.mutable_metadata()->set_namespace_(kNamespace);
    secret.mutable_metadata()->set_name(options_.secret);
    view_.Put(secret);
    for (const char* name : {"v1", "v2"}) PutConfiguration<ValidatingWebhookConfiguration>(name);
    PutConfiguration<MutatingWebhookConfiguration>("m1");
    CertificateWrites writes;
    writes.secret = [this](const CallContext&, Secret written) {
      view_.Put(std::move(written));
      return absl::OkStatus();
    };
    writes.validating = [this](const CallContext&, ValidatingWebhookConfiguration written) {
      return Write(std::move(written));
    };
    writes.mutating = [this](const CallContext&, MutatingWebhookConfiguration written) {
      return Write(std::move(written));
    };
    reconciler_ = std::make_unique<CertificateReconciler>(component_, options_, std::move(writes));
  }

  // With two webhooks.
  template <class T>
  void PutConfiguration(const char* name) {
    T configuration;
    configuration.mutable_metadata()->set_name(name);
    for (const char* webhook : {"a", "b"}) configuration.add_webhooks()->set_name(webhook);
    view_.Put(configuration);
  }
  template <class T>
  absl::Status Write(T written) {
    if (unavailable_ == written.metadata().name()) return absl::UnavailableError("gone");
    view_.Put(std::move(written));
    return absl::OkStatus();
  }
  absl::Status Reconcile() {
    return reconciler_->Reconcile({}, {{kNamespace, options_.secret}}).status();
  }
  std::string Data(const char* key) {
    return view_.Get<Secret>({}, {kNamespace, options_.secret})->data().at(key);
  }
  // The bundles of the configuration's two webhooks.
  template <class T>
  std::pair<std::string, std::string> Bundles(const char* name) {
    const T stored = *view_.Get<T>({}, {"", name});
    return {stored.webhooks(0).clientconfig().cabundle(),
            stored.webhooks(1).clientconfig().cabundle()};
  }
  template <class T>
  void Distrust(const char* name) {
    T stored = *view_.Get<T>({}, {"", name});
    stored.mutable_webhooks(1)->mutable_clientconfig()->set_cabundle("another");
    view_.Put(stored);
  }

  SimulatedLoop loop_;
  SimulatedPool pool_{loop_, 1};
  FakeCacheView view_{loop_};
  FakeRestClient client_{loop_, "webhook-certificates"};
  Metrics metrics_;
  DiscardingEventRecorder events_;
  const std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  Component component_{kWebhookCertificates, client_, events_,
                       ControllerContext{"webhook-certificates", loop_, pool_, view_, metrics_,
                                         Logger(log_, loop_.clock())},
                       kNamespace};
  const CertificateOptions options_{.names = {"DNS:x"},
                                    .validating = {{"v1", {"a", "b"}}, {"v2", {"a", "b"}}},
                                    .mutating = {{"m1", {"a", "b"}}},
                                    .lifetimes = kLifetimes};
  std::string unavailable_;  // the configuration that cannot be written
  std::vector<std::unique_ptr<DemandHandle>> demands_;
  std::unique_ptr<CertificateReconciler> reconciler_;
};

TEST_F(PublicationTest, PublishesInEveryConfiguration) {
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  const std::string bundle = Data(kAuthorities);
  const std::pair<std::string, std::string> both = {bundle, bundle};
  EXPECT_EQ(Bundles<ValidatingWebhookConfiguration>("v1"), both);
  EXPECT_EQ(Bundles<ValidatingWebhookConfiguration>("v2"), both);
  EXPECT_EQ(Bundles<MutatingWebhookConfiguration>("m1"), both);
}

TEST_F(PublicationTest, OneConfigurationThatCannotBeWrittenStopsNoOther) {
  for (const char* name : {"v1", "m1"}) {
    unavailable_ = name;
    Distrust<ValidatingWebhookConfiguration>("v1");
    Distrust<ValidatingWebhookConfiguration>("v2");
    Distrust<MutatingWebhookConfiguration>("m1");
    EXPECT_TRUE(absl::IsUnavailable(Reconcile())) << name;
    const std::string bundle = Data(kAuthorities);
    EXPECT_EQ(Bundles<ValidatingWebhookConfiguration>("v2"), std::pair(bundle, bundle)) << name;
  }
}

TEST_F(PublicationTest, AnUnreadableConfigurationIsNotAbsent) {
  view_.SetState(KindOf<MutatingWebhookConfiguration>::value, DemandState::kForbidden,
                 absl::PermissionDeniedError("no"));
  EXPECT_FALSE(Reconcile().ok());
  EXPECT_FALSE(view_.Get<Secret>({}, {kNamespace, options_.secret})->data().contains(kServing));
}

TEST_F(PublicationTest, ForeignEntriesOfEachConfigurationAreReported) {
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  auto validating = *view_.Get<ValidatingWebhookConfiguration>({}, {"", "v2"});
  validating.add_webhooks()->set_name("evil");
  view_.Put(validating);
  auto mutating = *view_.Get<MutatingWebhookConfiguration>({}, {"", "m1"});
  mutating.add_webhooks()->set_name("evil");  // of the same name
  view_.Put(mutating);
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  EXPECT_EQ(
      metrics_.Gauge("mandate_webhook_foreign_entries", "", {{"identity", "webhook-certificates"}})
          .Value(),
      2);
  for (const char* name : {"v2", "m1"}) {
    EXPECT_EQ(log_->Count(StrCat("configuration=", name, " webhook=evil")), 1) << name;
  }
  EXPECT_EQ(view_.Get<MutatingWebhookConfiguration>({}, {"", "m1"})
                ->webhooks(2)
                .clientconfig()
                .cabundle(),
            "");
}

// A webhook that does not trust the authority keeps the old certificate in use.
TEST_F(PublicationTest, AnAuthorityIssuesOnlyWhenEachWebhookTrustsIt) {
  const std::pair<const char*, std::function<void()>> cases[] = {
      {"the second webhook", [&] { Distrust<ValidatingWebhookConfiguration>("v1"); }},
      {"the second configuration", [&] { Distrust<ValidatingWebhookConfiguration>("v2"); }},
      {"a mutating one", [&] { Distrust<MutatingWebhookConfiguration>("m1"); }},
  };
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  for (const auto& [name, distrust] : cases) {
    loop_.RunFor(kLifetimes.serving * 3 / 4);  // a new certificate is due
    const std::string serving = Data(kServing);
    distrust();
    ASSERT_EQ(Reconcile(), absl::OkStatus());
    EXPECT_EQ(Data(kServing), serving) << name;
    ASSERT_EQ(Reconcile(), absl::OkStatus());  // the bundle is published again
    EXPECT_NE(Data(kServing), serving) << name;
  }
}

TEST_F(PublicationTest, AReplicaLogsACertificateThatItCannotServe) {
  const auto certificate = ServingCertificate::WithoutCertificate({});
  const Webhooks serving = MakeServing(component_, options_, certificate);
  EXPECT_EQ(view_.demands().back(),
            (DemandSpec{KindOf<Secret>::value, kNamespace, options_.secret}));
  loop_.RunReady();
  EXPECT_EQ(log_->Count("cannot be served"), 0) << "an empty Secret waits for the leader";
  Secret secret = *view_.Get<Secret>({}, {kNamespace, options_.secret});
  (*secret.mutable_data())[kServing] = "text";
  view_.Put(secret);
  loop_.RunReady();
  EXPECT_EQ(log_->Count("The Secret's certificate cannot be served"), 1);
  EXPECT_FALSE(certificate->Ready().ok());
  view_.Remove(KindOf<Secret>::value, {kNamespace, options_.secret});
  loop_.RunReady();
  EXPECT_EQ(log_->Count("The Secret's certificate cannot be served"), 1) << "a deletion is no news";
}

}  // namespace
}  // namespace mandate::certificates
