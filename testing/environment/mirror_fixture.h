// A component that copies ConfigMaps, for the tests of Environment.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/operators/v1alpha1/scope.pb.h"
#include "manager/client/self_review.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/owner.h"
#include "manager/rbac/events_rule.h"
#include "testing/environment/environment.h"

namespace mandate {

// A kind that the API server knows only by its definition.
using operators::v1alpha1::ScopeTemplate;
template <>
struct KindOf<ScopeTemplate> {
  static constexpr KindInfo value = {.group = "operators.coreos.com",
                                     .version = "v1alpha1",
                                     .kind = "ScopeTemplate",
                                     .plural = "scopetemplates",
                                     .scope = Scope::kCluster};
};

using corev1::ConfigMap;

namespace mirror_internal {

inline constexpr std::string_view kVerbs[] = {"list", "watch", "create", "patch"};
inline constexpr std::string_view kRead[] = {"get"};
inline constexpr std::string_view kCore[] = {""};
inline constexpr std::string_view kConfigMaps[] = {"configmaps"};
inline constexpr std::string_view kSecrets[] = {"secrets"};
inline constexpr std::string_view kPods[] = {"pods"};
inline constexpr std::string_view kUpdate[] = {"update"};
inline constexpr std::string_view kFinalizers[] = {"configmaps/finalizers"};
inline constexpr rbac::MandateRule kRules[] = {
    {.rule = {kVerbs, kCore, kConfigMaps}},
    {.rule = {kUpdate, kCore, kFinalizers}},
    {.rule = {kRead, kCore, kSecrets}, .ns = "shop"},
    {.rule = {kRead, kCore, kPods}, .external = true},
    {.rule = rbac::kEventsRule},
};

}  // namespace mirror_internal

// Writes the text of each ConfigMap with a member "copy" to another one, "NAME-copy".
inline constexpr rbac::Mandate kMirror = {"mirror", mirror_internal::kRules};

inline const rbac::Permission kCreate = {"mirror", "create", "", "configmaps"};

inline absl::StatusOr<Result> Mirror(const Component& component, const CallContext& context,
                                     const Request& request) {
  const auto source = component.cache().Get<ConfigMap>(context, request.key);
  if (absl::IsNotFound(source.status())) return Result{};
  RETURN_IF_ERROR(source.status());
  if (!source->data().contains("copy")) return Result{};
  ConfigMap copy;
  copy.mutable_metadata()->set_namespace_(request.key.ns);
  copy.mutable_metadata()->set_name(request.key.name + "-copy");
  SetControllerReference(*source, &copy);
  (*copy.mutable_data())["text"] = source->data().at("copy");
  const auto actual = component.cache().Get<ConfigMap>(context, KeyOf(copy));
  if (!actual.ok() && !absl::IsNotFound(actual.status())) return actual.status();
  ASSIGN_OR_RETURN(auto client, Client<kMirror>::Create(component.client));
  RETURN_IF_ERROR(
      client.Ensure(context, std::move(copy), actual.ok() ? &*actual : nullptr).status());
  return Result{};
}

inline absl::StatusOr<std::unique_ptr<Controller>> MakeMirror(const Component& component) {
  return ControllerBuilder<kMirror>(component.controller_context)
      .For<ConfigMap>()
      .Complete(std::make_unique<FunctionReconciler>(
          [&component](const CallContext& context, const Request& request) {
            return Mirror(component, context, request);
          }));
}

inline auto Says(std::string text) {
  return [text = std::move(text)](const ConfigMap& map) { return map.data().at("text") == text; };
}

class MirrorTest : public testing::Test {
 protected:
  EnvironmentOptions Options() {
    return {.components = {{&kMirror,
                            [this](const Component& component) {
                              client_ = &component.client;
                              return MakeOnlyController<MakeMirror>(component);
                            }}},
            .crds = {"charts/mandate/crds/operators.coreos.com_scopetemplates.yaml"}};
  }
  // Whether the server lets the component do this.
  bool Can(const Environment& environment, const std::string& verb, const std::string& resource,
           const std::string& ns) {
    const auto review = CanI(environment.Context(), *client_, ns,
                             {.verbs = {verb}, .api_groups = {""}, .resources = {resource}});
    EXPECT_TRUE(review.ok()) << review.status();
    return review.ok() && review->status().allowed();
  }
  // The failures that `test` adds.
  template <class Test>
  static std::vector<testing::TestPartResult> FailuresOf(Test test) {
    testing::TestPartResultArray results;
    {
      testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
      test();
    }
    std::vector<testing::TestPartResult> failures;
    for (int i = 0; i < results.size(); ++i) failures.push_back(results.GetTestPartResult(i));
    return failures;
  }
  template <class Test>
  static std::string FailureOf(Test test) {
    const auto failures = FailuresOf(std::move(test));
    EXPECT_EQ(failures.size(), 1u);
    return failures.empty() ? "" : failures[0].message();
  }

  RestClient* client_ = nullptr;  // the component's, while its manager runs
};

}  // namespace mandate
