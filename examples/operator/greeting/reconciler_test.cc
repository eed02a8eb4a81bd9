// Runs the reconciler with exactly its mandate's permissions, on Mandate's double of the API
// server.
#include "greeting/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "greeting/plan.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/client/testing/mandate_server.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "manager/object/raw_object.h"
#include "testing/apiserver/sim_server.h"
#include "testing/conformance/json_yaml.h"

namespace example {
namespace {

using mandate::FakeRestClient;
using mandate::HttpRequest;
using mandate::HttpResponse;
using mandate::KindInfo;
using mandate::KindOf;
using mandate::RestRequest;
using mandate::corev1::ConfigMap;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kConfigMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kGreetings[] = "/apis/example.com/v1alpha1/namespaces/default/greetings";

mandate::apiserver::SimOptions WithTheDefinition() {
  mandate::apiserver::SimOptions options;
  options.core.objects = {mandate::WriteJson(
      mandate::conformance::ToJson(YAML::LoadFile("chart/crds/example.com_greetings.yaml")))};
  return options;
}

class ReconcilerTest : public testing::Test {
 protected:
  ReconcilerTest() : server_(loop_, WithTheDefinition()), view_(loop_), client_(loop_, "greeting") {
    for (const KindInfo& kind : {KindOf<v1alpha1::Greeting>::value, KindOf<ConfigMap>::value}) {
      demands_.push_back(view_.Demand({kind, "", ""}, nullptr));
    }
    client_.HandleLate([this](const RestRequest& request, const FakeRestClient::Reply& reply) {
      if (request.method != "GET")
        writes_.push_back(request.target.substr(0, request.target.find('?')));
      if (auto denied = rights_.Deny(request)) return reply(*denied);
      HttpRequest http = Request(request.method, request.target, request.body);
      http.content_type = request.content_type;
      http.accept = request.accept;
      server_.transport().Call({}, std::move(http), reply);
    });
    loop_.RunReady();
    Send("POST", kGreetings,
         R"({"apiVersion":"example.com/v1alpha1","kind":"Greeting","metadata":{"name":"ann"},
             "spec":{"name":"Ann"}})");
  }

  static HttpRequest Request(const std::string& method, const std::string& target,
                             const std::string& body) {
    auto endpoint = std::make_shared<mandate::Endpoint>();
    endpoint->server = "https://double";
    endpoint->ca_pem = "none";
    HttpRequest request(
        std::move(endpoint),
        mandate::BearerToken{std::make_shared<mandate::Secret>(mandate::apiserver::kAdminToken)},
        method, target);
    request.body = body;
    if (!body.empty()) request.content_type = "application/json";
    return request;
  }

  // A request of the administrator.
  HttpResponse Send(const std::string& method, const std::string& target, const std::string& body) {
    std::optional<absl::StatusOr<HttpResponse>> answer;
    server_.transport().Call({}, Request(method, target, body),
                             [&](auto result) { answer = std::move(result); });
    loop_.RunUntil([&] { return answer.has_value(); });
    return answer->ok() ? **std::move(answer) : HttpResponse{};
  }

  // Copies an object from the server to the cache's view.
  void CatchUp(const KindInfo& kind, const char* collection) {
    const HttpResponse answer = Send("GET", std::string(collection) + "/ann", "");
    if (answer.code != 200) return view_.Remove(kind, {"default", "ann"});
    view_.Put(kind, *mandate::ParseRawObject(answer.body, mandate::Encoding::kJson));
  }
  void CatchUp() {
    CatchUp(KindOf<v1alpha1::Greeting>::value, kGreetings);
    CatchUp(KindOf<ConfigMap>::value, kConfigMaps);
  }

  absl::Status Reconcile() {
    writes_.clear();
    CatchUp();
    const mandate::Component component = {
        mandate::kGreeting, client_, events_,
        mandate::ControllerContext{"greeting", loop_, loop_, view_, metrics_, {}, 1}};
    GreetingReconciler reconciler(component, *mandate::Client<mandate::kGreeting>::Create(client_));
    const absl::Status status = reconciler.Reconcile({}, {{"default", "ann"}}).status();
    CatchUp();
    return status;
  }

  std::string Message() {
    const auto config_map = view_.Get<ConfigMap>({}, {"default", "ann"});
    return config_map.ok() ? config_map->data().at(kMessageKey) : "";
  }
  std::string Condition() {
    const auto greeting = view_.Get<v1alpha1::Greeting>({}, {"default", "ann"});
    if (!greeting.ok() || greeting->status().conditions().empty()) return "";
    const auto& condition = greeting->status().conditions(0);
    return condition.status() + " " + condition.message();
  }

  mandate::SimulatedLoop loop_;
  mandate::apiserver::SimServer server_;
  mandate::Metrics metrics_;
  mandate::FakeCacheView view_;
  std::vector<std::unique_ptr<mandate::DemandHandle>> demands_;
  mandate::FakeEventRecorder events_;
  FakeRestClient client_;
  const mandate::MandateServer rights_{mandate::kGreeting};
  std::vector<std::string> writes_;  // the paths of the component's writes
};

TEST_F(ReconcilerTest, GreetsOnceAndReports) {
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  EXPECT_EQ(Message(), "Hello, Ann!");
  EXPECT_EQ(Condition(), "True the ConfigMap exists");
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  EXPECT_THAT(writes_, IsEmpty());
}

TEST_F(ReconcilerTest, RestoresADeletedConfigMap) {
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  Send("DELETE", std::string(kConfigMaps) + "/ann", "");
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  EXPECT_THAT(writes_, ElementsAre(std::string(kConfigMaps) + "/ann"));
  EXPECT_EQ(Message(), "Hello, Ann!");
}

TEST_F(ReconcilerTest, ReportsAForeignConfigMap) {
  Send(
      "POST", kConfigMaps,
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ann"},"data":{"message":"x"}})");
  ASSERT_EQ(Reconcile(), absl::OkStatus());
  EXPECT_EQ(Message(), "x");
  EXPECT_THAT(Condition(), HasSubstr("False ConfigMap \"ann\" exists and does not belong"));
}

}  // namespace
}  // namespace example
