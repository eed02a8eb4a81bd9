// A Manager that watches some namespaces only, and whose component has Roles there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/serving/testing/http_client.h"
#include "manager/testing_manager.h"

namespace mandate {
namespace {

using apiserver::ServerCore;
using testing::HasSubstr;

constexpr rbac::MandateRule kRules[] = {{kReadConfigMaps, "", false}};
constexpr rbac::Mandate kKeeper = {"keeper", kRules};
// What the cluster grants it.
constexpr rbac::MandateRule kGrants[] = {{kReadConfigMaps, "shop", false},
                                         {kReadConfigMaps, "bank", false}};
constexpr rbac::Mandate kGranted = {"keeper", kGrants};

class ManagerNamespacesTest : public testing::Test {
 protected:
  ManagerNamespacesTest() {
    for (const char* ns : {"shop", "bank", "other"}) Load(ns, "first");
    test_.options.watch_namespaces = {"shop", "bank"};
    test_.options.health_address = "127.0.0.1:0";
    test_.Run({{&kKeeper, [this](const Component& component) -> absl::StatusOr<Controllers> {
                  ASSIGN_OR_RETURN(auto controller,
                                   UncheckedControllerBuilder(component.controller_context)
                                       .For<corev1::ConfigMap>()
                                       .Complete(std::make_unique<FunctionReconciler>(
                                           [this](const CallContext&, const Request& request) {
                                             MutexLock lock(mutex_);
                                             seen_.insert(request.key.ToString());
                                             changed_.NotifyAll();
                                             return Result{};
                                           })));
                  Controllers controllers;
                  controllers.push_back(std::move(controller));
                  return controllers;
                }}});
  }
  void Load(const std::string& ns, const std::string& name) {
    test_.server().OnLoop([&](ServerCore& core) {
      ASSERT_TRUE(core.Load(StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")",
                                   name, R"(","namespace":")", ns, R"("}})"))
                      .ok());
    });
  }
  void Await(const std::string& key) {
    MutexLock lock(mutex_);
    while (!seen_.contains(key)) changed_.Wait(mutex_);
  }

  Mutex mutex_;
  CondVar changed_;
  std::set<std::string> seen_ ABSL_GUARDED_BY(mutex_);
  TestManager test_{{&kGranted}};
};

TEST_F(ManagerNamespacesTest, RolesInItsNamespacesAreEnough) {
  Await("shop/first");
  Await("bank/first");
  Load("other", "second");
  Load("shop", "second");
  Await("shop/second");
  const std::string line = test_.log().Await("Serving health probes");
  const std::string address = line.substr(line.find("address=") + 8);
  // The preflight may still run.
  HttpAnswer ready;
  for (int i = 0; i < 10'000 && ready.code != 200; ++i) {
    ready = GetByHttp(address, "/readyz?verbose");
  }
  EXPECT_EQ(ready.code, 200u) << ready.body;
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
  MutexLock lock(mutex_);
  EXPECT_EQ(seen_, (std::set<std::string>{"shop/first", "bank/first", "shop/second"}));
}

TEST(ManagerNamespacesOptionTest, IsChecked) {
  TestManager test({&kKeeper});
  test.options.watch_namespaces = {"shop", "shop"};
  const absl::Status status = test.Create({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("namespace shop is listed twice"));
}

}  // namespace
}  // namespace mandate
