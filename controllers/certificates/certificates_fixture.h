// Two replicas of the certificate reconciler, each with exactly its mandate's permissions, on the
// double of the API server.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/certificates/make.h"
#include "controllers/certificates/reconciler.h"
#include "controllers/certificates/webhook_certificates.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/client/testing/mandate_server.h"
#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/rbac/mandate_in_namespace.h"
#include "testing/apiserver/admin_request.h"
#include "testing/apiserver/sim_server.h"

namespace mandate::certificates {

using admissionregistrationv1::ValidatingWebhookConfiguration;
using corev1::Secret;

inline constexpr char kNamespace[] = "kube-system";
inline constexpr char kName[] = "mandate-manager-webhook-certificate";
inline constexpr char kSecrets[] = "/api/v1/namespaces/kube-system/secrets";
inline constexpr char kConfigurations[] =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
inline constexpr char kConfiguration[] = "mandate-manager-scope-webhook-validating";

inline std::string ConfigurationJson(const std::vector<std::string>& names = {"a.example.com",
                                                                              "b.example.com"}) {
  std::string webhooks;
  for (const std::string& name : names) {
    StrAppend(&webhooks, webhooks.empty() ? "" : ",", R"({"name":")", name,
              R"(","sideEffects":"None","admissionReviewVersions":["v1"],"failurePolicy":"Ignore",
              "clientConfig":{"service":{"name":"s","namespace":"n","path":"/p"}}})");
  }
  return StrCat(R"({"apiVersion":"admissionregistration.k8s.io/v1",
                    "kind":"ValidatingWebhookConfiguration","metadata":{"name":")",
                kConfiguration, R"("},"webhooks":[)", webhooks, "]}");
}

inline CertificateOptions Options() {
  return {.names = {"DNS:webhook.ns.svc"},
          .validating = {{kConfiguration, {"a.example.com", "b.example.com"}}},
          .mutating = {},
          .lifetimes = {.authority = absl::Hours(400), .serving = absl::Hours(40)}};
}

// A process, which sees the objects as they were at its last CatchUp().
class Replica {
 public:
  Replica(SimulatedLoop& loop, apiserver::SimServer& server, std::shared_ptr<LogCapture> log)
      : loop_(loop),
        server_(server),
        view_(loop),
        client_(loop, "webhook-certificates"),
        component_{placed_.mandate(), client_, events_,
                   ControllerContext{"webhook-certificates", loop, pool_, view_, metrics_,
                                     Logger(std::move(log), loop.clock())},
                   kNamespace} {
    demands_.push_back(view_.Demand({KindOf<Secret>::value, kNamespace, kName}, nullptr));
    demands_.push_back(
        view_.Demand({KindOf<ValidatingWebhookConfiguration>::value, "", kConfiguration}, nullptr));
    serving_ = MakeServing(component_, Options(), certificate_);
    client_.HandleLate([this](const RestRequest& request, const FakeRestClient::Reply& reply) {
      const std::string target = request.target.substr(0, request.target.find('?'));
      writes_.push_back(StrCat(request.method, " ", target.substr(target.rfind('/') + 1)));
      if (auto denied = rights_.Deny(request)) return reply(*denied);
      if (unavailable == writes_.back()) {
        HttpResponse response;
        response.code = 503;
        return reply(response);
      }
      HttpRequest http = apiserver::AdminRequest(request.method, request.target, request.body,
                                                 request.content_type);
      http.accept = request.accept;
      server_.transport().Call({}, std::move(http), reply);
    });
    auto client = Client<kWebhookCertificates>::Create(client_);
    EXPECT_TRUE(client.ok());
    CertificateWrites writes;
    writes.secret = [client = *client](const CallContext& context, Secret secret) mutable {
      return client.Update<Secret>(context, std::move(secret)).status();
    };
    writes.validating = [client = *client](const CallContext& context,
                                           ValidatingWebhookConfiguration object) mutable {
      return client.Update<ValidatingWebhookConfiguration>(context, std::move(object)).status();
    };
    CertificateOptions options = Options();
    options.health = health_;
    reconciler_ =
        std::make_unique<CertificateReconciler>(component_, std::move(options), std::move(writes));
    loop_.RunReady();
  }

  void CatchUp() {
    Copy(KindOf<Secret>::value, {kNamespace, kName}, StrCat(kSecrets, "/", kName));
    Copy(KindOf<ValidatingWebhookConfiguration>::value, {"", kConfiguration},
         StrCat(kConfigurations, "/", kConfiguration));
    loop_.RunReady();
  }
  absl::StatusOr<Result> Reconcile() {
    writes_.clear();
    std::optional<absl::StatusOr<Result>> result;
    pool_.Post([&] {
      result = reconciler_->Reconcile({loop_.clock().TimeNow() + absl::Minutes(1), {}},
                                      {{kNamespace, kName}});
    });
    loop_.RunUntil([&] { return result.has_value(); });
    return *std::move(result);
  }
  const std::vector<std::string>& writes() const { return writes_; }
  const WriteHealth& health() const { return *health_; }
  ServingCertificate& certificate() { return *certificate_; }
  double Expiry(const char* certificate) {
    return metrics_
        .Gauge("mandate_webhook_certificate_expiration_timestamp_seconds", "",
               {{"identity", "webhook-certificates"}, {"certificate", certificate}})
        .Value();
  }

  double Gauge(const char* name) {
    return metrics_.Gauge(name, "", {{"identity", "webhook-certificates"}}).Value();
  }

  std::string unavailable;  // a write that fails

 private:
  void Copy(const KindInfo& kind, const ObjectKey& key, const std::string& target) {
    std::optional<absl::StatusOr<HttpResponse>> answer;
    HttpRequest request = apiserver::AdminRequest("GET", target, "", "");
    request.accept = "application/vnd.kubernetes.protobuf";
    server_.transport().Call({}, std::move(request), [&](auto r) { answer = std::move(r); });
    loop_.RunUntil([&] { return answer.has_value(); });
    ASSERT_TRUE(answer->ok());
    if ((*answer)->code != 200) return view_.Remove(kind, key);
    view_.Put(kind, *ParseRawObject((*answer)->body, Encoding::kProtobuf));
  }

  SimulatedLoop& loop_;
  apiserver::SimServer& server_;
  SimulatedPool pool_{loop_, 1};
  const rbac::MandateInNamespace placed_{kWebhookCertificates, kNamespace};
  const MandateServer rights_{placed_.mandate()};
  FakeCacheView view_;
  FakeRestClient client_;
  Metrics metrics_;
  DiscardingEventRecorder events_;
  Component component_;
  const std::shared_ptr<ServingCertificate> certificate_ =
      ServingCertificate::WithoutCertificate({});
  const std::shared_ptr<WriteHealth> health_ = std::make_shared<WriteHealth>();
  Webhooks serving_;
  std::vector<std::unique_ptr<DemandHandle>> demands_;
  std::unique_ptr<CertificateReconciler> reconciler_;
  std::vector<std::string> writes_;
};

class CertificatesTest : public testing::Test {
 protected:
  CertificatesTest() : server_(loop_, {}), one_(loop_, server_, log_), two_(loop_, server_, log_) {
    Send("POST", kSecrets,
         StrCat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")", kName, R"("}})"));
    const HttpResponse created = Send("POST", kConfigurations, ConfigurationJson());
    EXPECT_EQ(created.code, 201) << created.body;
  }

  HttpResponse Send(const std::string& method, const std::string& target, const std::string& body,
                    const std::string& type = "application/json") {
    std::optional<absl::StatusOr<HttpResponse>> answer;
    server_.transport().Call({}, apiserver::AdminRequest(method, target, body, type),
                             [&](auto result) { answer = std::move(result); });
    loop_.RunUntil([&] { return answer.has_value(); });
    return answer->ok() ? **std::move(answer) : HttpResponse{};
  }
  template <class T>
  T Stored(const std::string& target) {
    HttpResponse answer = Send("GET", target, "");
    EXPECT_EQ(answer.code, 200);
    return *(*ParseRawObject(answer.body, Encoding::kJson))->Decode<T>();
  }
  std::string Data(const char* key) {
    return Stored<Secret>(StrCat(kSecrets, "/", kName)).data().at(key);
  }
  std::vector<std::string> Bundles() {
    std::vector<std::string> bundles;
    const auto stored =
        Stored<ValidatingWebhookConfiguration>(StrCat(kConfigurations, "/", kConfiguration));
    for (const auto& webhook : stored.webhooks()) {
      bundles.push_back(webhook.clientconfig().cabundle());
      EXPECT_EQ(webhook.clientconfig().service().path(), "/p");
    }
    return bundles;
  }
  // A patch, because the server rejects an update without a resourceVersion.
  void Replace(const std::string& configuration) {
    const HttpResponse patched = Send("PATCH", StrCat(kConfigurations, "/", kConfiguration),
                                      configuration, "application/merge-patch+json");
    EXPECT_EQ(patched.code, 200) << patched.body;
  }
  void Settle(Replica& replica) {
    replica.CatchUp();
    EXPECT_TRUE(replica.Reconcile().ok());
    replica.CatchUp();
  }
  void Pass(absl::Duration time) { loop_.RunFor(time); }

  SimulatedLoop loop_;
  apiserver::SimServer server_;
  const std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  Replica one_, two_;
};

}  // namespace mandate::certificates
