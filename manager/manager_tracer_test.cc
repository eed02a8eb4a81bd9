// The traces of a running Manager, as a collector gets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/unstructured_client.h"
#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/mutex.h"
#include "manager/core/status_macros.h"
#include "manager/core/testing/must.h"
#include "manager/object/json.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/serving/http_server.h"
#include "manager/testing_manager.h"

namespace mandate {
namespace {

using apiserver::ServerCore;
using testing::HasSubstr;

constexpr std::string_view kReads[] = {"get", "list", "watch"};
constexpr rbac::MandateRule kRules[] = {{{kReads, kTestGroups, kTestResources, {}, {}}, "", false}};
constexpr rbac::Mandate kReader = {"reader", kRules};

// Keeps the spans of all batches.
class Collector {
 public:
  std::string endpoint() const { return "http://" + server_->address(); }
  std::vector<Json::Value> Spans() {
    MutexLock lock(mutex_);
    std::vector<Json::Value> spans;
    for (const std::string& body : bodies_) {
      const Json::Value request = Must(ParseJson(body));
      for (const auto& span : request["resourceSpans"][0]["scopeSpans"][0]["spans"]) {
        spans.push_back(span);
      }
    }
    return spans;
  }
  // Of the first batch.
  std::map<std::string, std::string> Resource() {
    MutexLock lock(mutex_);
    std::map<std::string, std::string> texts;
    if (bodies_.empty()) return texts;
    const Json::Value body = Must(ParseJson(bodies_.front()));
    for (const auto& attribute : body["resourceSpans"][0]["resource"]["attributes"]) {
      texts[attribute["key"].asString()] = attribute["value"]["stringValue"].asString();
    }
    return texts;
  }

 private:
  Metrics metrics_;
  Mutex mutex_;
  std::vector<std::string> bodies_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<HttpServer> server_ = Must(HttpServer::Create(
      {.address = "127.0.0.1:0",
       .posts = {{"/v1/traces",
                  {.handle =
                       [this](PostedRequest request, std::function<void(ServedResponse)> answer) {
                         MutexLock lock(mutex_);
                         bodies_.push_back(std::move(request.body));
                         answer({.body = "{}"});
                       }}}},
       .metrics = &metrics_}));
};

class ManagerTracingTest : public testing::Test {
 protected:
  ManagerTracingTest() {
    test_.server().OnLoop([](ServerCore& core) {
      ASSERT_TRUE(core.Load(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{
          "name":"a","namespace":"default"}})")
                      .ok());
    });
  }
  // Runs until the ConfigMap was reconciled, by a live read of it.
  void RunOnce() {
    test_.Run({{&kReader, [this](const Component& component) -> absl::StatusOr<Controllers> {
                  ASSIGN_OR_RETURN(auto controller,
                                   UncheckedControllerBuilder(component.controller_context)
                                       .For<corev1::ConfigMap>()
                                       .Complete(std::make_unique<FunctionReconciler>(
                                           [this, &client = component.client](
                                               const CallContext& context,
                                               const Request& request) -> absl::StatusOr<Result> {
                                             const auto read = UnstructuredClient(client).Get(
                                                 context, KindOf<corev1::ConfigMap>::value,
                                                 request.key);
                                             reconciled_.Set();
                                             if (!read.ok()) return read.status();
                                             return Result{};
                                           })));
                  Controllers controllers;
                  controllers.push_back(std::move(controller));
                  return controllers;
                }}});
    reconciled_.Wait();
    EXPECT_TRUE(test_.Stop().ok());
  }

  TestManager test_{{&kReader}};
  Latch reconciled_;
};

TEST_F(ManagerTracingTest, ARequestIsInTheReconciliationThatMadeIt) {
  Collector collector;
  test_.options.tracing.endpoint = collector.endpoint();
  RunOnce();
  std::map<std::string, Json::Value> spans;
  for (const Json::Value& span : collector.Spans()) spans[span["name"].asString()] = span;
  ASSERT_TRUE(spans.contains("reconcile"));
  ASSERT_TRUE(spans.contains("GET configmaps"));
  EXPECT_EQ(spans["GET configmaps"]["parentSpanId"], spans["reconcile"]["spanId"]);
  EXPECT_EQ(spans["GET configmaps"]["traceId"], spans["reconcile"]["traceId"]);
  const auto resource = collector.Resource();
  EXPECT_EQ(resource.at("service.name"), "mandate-manager");
  EXPECT_EQ(resource.at("k8s.namespace.name"), "default");
}

TEST_F(ManagerTracingTest, ADeadCollectorStopsNothing) {
  // Nothing listens on this port: it was just closed.
  test_.options.tracing.endpoint = Collector().endpoint();
  RunOnce();
}

TEST_F(ManagerTracingTest, AnEndpointThatIsNoneIsAnError) {
  test_.options.tracing.endpoint = "http://collector.example:4318";
  const absl::Status status = test_.Create({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("https"));
}

}  // namespace
}  // namespace mandate
