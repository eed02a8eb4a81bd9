// The webhooks of one component on a simulated loop, and clients that send them reviews.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/admission/component_webhooks.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/must.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {

inline std::string Body(std::string_view uid) {
  return StrCat(
      R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":")", uid,
      R"(","operation":"CREATE"}})");
}

class ComponentWebhooksTest : public testing::Test {
 protected:
  using Answer = std::optional<ServedResponse>;

  void Start(AdmissionHandler handler) { Start(Webhook{"/hook", std::move(handler)}); }
  void Start(Webhook webhook) {
    Webhooks webhooks;
    webhooks.hooks.push_back(std::move(webhook));
    for (const KindInfo& kind : demanded_) {
      webhooks.demands.push_back(cache_.Demand({kind, "", ""}, nullptr));
    }
    loop_.RunReady();
    webhooks_.emplace(ComponentWebhooks::Options{.component = "scope",
                                                 .webhooks = std::move(webhooks),
                                                 .bounds = bounds_,
                                                 .workers = *workers_,
                                                 .loop = loop_,
                                                 .metrics = metrics_,
                                                 .log = Logger(log_, loop_.clock())});
    routes_ = webhooks_->Routes();
  }

  // Sends a review; the answer comes while the loop runs.
  std::shared_ptr<Answer> Send(std::string body, const std::string& timeout = "",
                               const std::string& type = "application/json") {
    auto answer = std::make_shared<Answer>();
    const PostRoute& route = routes_.at("/hook");
    auto admitted = route.admit(body.size());
    if (auto* refusal = std::get_if<ServedResponse>(&admitted)) {
      *answer = std::move(*refusal);
      return answer;
    }
    PostedRequest request{.path = "/hook", .content_type = type, .body = std::move(body)};
    if (!timeout.empty()) request.query["timeout"] = timeout;
    request.permit = std::get<std::shared_ptr<void>>(std::move(admitted));
    route.handle(std::move(request), [this, answer](ServedResponse response) {
      ASSERT_FALSE(answer->has_value()) << "a second answer";
      *answer = std::move(response);
      answered_at_ = loop_.clock().TimeNow();
    });
    return answer;
  }
  Json::Value Ask(std::string body) {
    const auto answer = Send(std::move(body));
    loop_.RunFor(absl::Seconds(1));
    EXPECT_TRUE(answer->has_value());
    EXPECT_EQ((*answer)->code, 200);
    EXPECT_EQ((*answer)->content_type, "application/json");
    return Must(ParseJson((*answer)->body))["response"];
  }
  // Inside a handler.
  void Wait(absl::Duration time) {
    Latch over;
    loop_.PostAt(loop_.clock().TimeNow() + time, [&] { over.Set(); });
    pool_.Await(over);
  }
  double Requests(const char* code) {
    return metrics_
        .Counter("controller_runtime_webhook_requests_total", "",
                 {{"code", code}, {"webhook", "/hook"}})
        .Value();
  }
  double Gauge(const char* name, const Labels& labels) {
    return metrics_.Gauge(name, "", labels).Value();
  }

  SimulatedLoop loop_;
  SimulatedPool pool_{loop_, 1};
  Executor* workers_ = &pool_;
  FakeCacheView cache_{loop_};
  std::vector<KindInfo> demanded_ = {KindOf<corev1::ConfigMap>::value};
  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  WebhookLimits bounds_;
  absl::Time answered_at_;
  std::optional<ComponentWebhooks> webhooks_;
  std::map<std::string, PostRoute> routes_;
};

}  // namespace mandate
