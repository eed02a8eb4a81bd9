// The debug pages of a running Manager.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/serving/testing/http_client.h"
#include "manager/testing_manager.h"

namespace mandate {
namespace {

using apiserver::ServerCore;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kReads[] = {"list", "watch"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kConfigMaps[] = {"configmaps"};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr rbac::MandateRule kKeeperRules[] = {{{kReads, kCore, kConfigMaps, {}, {}}, "", false},
                                              {{kReads, kCore, kSecrets, {}, {}}, "", true}};
constexpr rbac::Mandate kKeeper = {"keeper", kKeeperRules};

// A component with one worker, which holds the ConfigMap "a" while "b" waits. It may not watch
// Secrets, because its grant is external and was not given.
class ManagerDebugTest : public testing::Test {
 protected:
  ManagerDebugTest() {
    test_.server().OnLoop([](ServerCore& core) {
      for (const char* name : {"a", "b"}) {
        ASSERT_TRUE(
            core.Load(StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name,
                             R"(","namespace":"default"},"data":{"k":"content"}})"))
                .ok());
      }
    });
    test_.options.debug_address = "127.0.0.1:0";
    test_.Run({{&kKeeper, [this](const Component& component) -> absl::StatusOr<Controllers> {
                  ASSIGN_OR_RETURN(auto controller,
                                   UncheckedControllerBuilder(component.controller_context)
                                       .For<corev1::ConfigMap>()
                                       .Watches<corev1::Secret>([](const corev1::Secret&) {
                                         return std::vector<Request>();
                                       })
                                       .Complete(std::make_unique<FunctionReconciler>(
                                           [this](const CallContext&, const Request&) {
                                             begun_.Set();
                                             may_end_.Wait();
                                             return Result{};
                                           })));
                  Controllers controllers;
                  controllers.push_back(std::move(controller));
                  return controllers;
                }}});
    begun_.Wait();
    const std::string line = test_.log().Await("Serving debug pages");
    address_ = line.substr(line.find("address=") + 8);
  }
  ~ManagerDebugTest() override { may_end_.Set(); }

  std::string Get(const std::string& target) {
    const HttpAnswer answer = GetByHttp(address_, target);
    EXPECT_EQ(answer.code, 200u) << answer.body;
    EXPECT_THAT(answer.body, Not(HasSubstr("content")));
    return answer.body;
  }

  Latch begun_;
  Latch may_end_;
  TestManager test_{{&kKeeper}};
  std::string address_;
};

TEST_F(ManagerDebugTest, ShowsTheQueueOfEachController) {
  const Json::Value page = ParseJson(Get("/debug/queues?format=json")).value();
  ASSERT_EQ(page["queues"].size(), 1u);
  const Json::Value& queue = page["queues"][0];
  EXPECT_EQ(queue["component"], "keeper");
  EXPECT_EQ(queue["controller"], "configmap");
  EXPECT_EQ(queue["workers"], 1);
  EXPECT_EQ(queue["inProgress"], 1);
  EXPECT_EQ(queue["requests"][0]["state"], "in progress");
  EXPECT_EQ(queue["requests"][0]["namespace"], "default");
  EXPECT_THAT(Get("/debug/queues"), HasSubstr("default/a"));
  EXPECT_EQ(Get("/debug/queues?format=json&component=other"), "{\"queues\":[]}\n");
}

TEST_F(ManagerDebugTest, ShowsTheWatchesOfEachComponent) {
  const Json::Value page = ParseJson(Get("/debug/watches?format=json")).value();
  EXPECT_EQ(page["scopes"], 2);
  ASSERT_EQ(page["watches"].size(), 2u);
  const Json::Value& config_maps = page["watches"][0];
  EXPECT_EQ(config_maps["component"], "keeper");
  EXPECT_EQ(config_maps["resource"], "configmaps");
  EXPECT_EQ(config_maps["state"], "Synced");
  EXPECT_EQ(config_maps["objects"], 2);
  EXPECT_NE(config_maps["version"], "");
  const Json::Value& secrets = page["watches"][1];
  EXPECT_EQ(secrets["resource"], "secrets");
  EXPECT_EQ(secrets["state"], "Forbidden");
  EXPECT_EQ(secrets["reason"], "PERMISSION_DENIED");
  EXPECT_THAT(Get("/debug/watches"), HasSubstr("Forbidden (PERMISSION_DENIED, waits)"));
}

TEST_F(ManagerDebugTest, HasNoToken) {
  for (const std::string page : {"/debug/queues", "/debug/watches"}) {
    EXPECT_THAT(Get(page), Not(HasSubstr(kBaseToken)));
    EXPECT_THAT(Get(page + "?format=json"), Not(HasSubstr("Bearer")));
  }
}

TEST(ManagerDebugAddressTest, IsLoopbackOnly) {
  TestManager test({&kKeeper});
  test.options.debug_address = "0.0.0.0:0";
  const absl::Status status = test.Create({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--debug-bind-address: 0.0.0.0:0 can be"));
}

}  // namespace
}  // namespace mandate
