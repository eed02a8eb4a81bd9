// The limits of a Manager's cache follow from its options.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/testing_manager.h"

namespace mandate {
namespace {

using apiserver::ServerCore;

constexpr rbac::MandateRule kRules[] = {{kReadConfigMaps, "", false}};
constexpr rbac::Mandate kLister = {"lister", kRules};

// The objects are compressed well: the watch is far below the limit, and a list of copies is not.
TEST(ManagerLimitsTest, MaxWatchBytesLimitsATypedListToo) {
  TestManager test({&kLister});
  test.options.max_watch_bytes = size_t{8} << 20;
  test.server().OnLoop([](ServerCore& core) {
    const std::string value(100'000, 'a');
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(core.Load(StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c)",
                                   i, R"(","namespace":"shop"},"data":{"v":")", value, R"("}})"))
                      .ok());
    }
  });
  Latch listed;
  absl::Status list, one;
  test.Run({{&kLister, [&](const Component& component) -> absl::StatusOr<Controllers> {
               ASSIGN_OR_RETURN(
                   auto controller,
                   UncheckedControllerBuilder(component.controller_context)
                       .For<corev1::ConfigMap>()
                       .Complete(std::make_unique<FunctionReconciler>(
                           [&](const CallContext& context, const Request& request) {
                             if (request.key.name != "c0") return Result{};
                             const CacheView& cache = component.cache();
                             list = cache.List<corev1::ConfigMap>(context, "shop").status();
                             one = cache.Get<corev1::ConfigMap>(context, request.key).status();
                             listed.Set();
                             return Result{};
                           })));
               Controllers controllers;
               controllers.push_back(std::move(controller));
               return controllers;
             }}});
  listed.Wait();
  EXPECT_EQ(list.code(), absl::StatusCode::kResourceExhausted) << list;
  EXPECT_TRUE(one.ok()) << one;
  EXPECT_TRUE(test.Stop().ok());
}

}  // namespace
}  // namespace mandate
