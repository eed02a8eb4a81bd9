#include "testing/environment/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
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

namespace {

using corev1::ConfigMap;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kVerbs[] = {"list", "watch", "create", "patch"};
constexpr std::string_view kRead[] = {"get"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kConfigMaps[] = {"configmaps"};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr std::string_view kPods[] = {"pods"};
constexpr std::string_view kUpdate[] = {"update"};
constexpr std::string_view kFinalizers[] = {"configmaps/finalizers"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {kVerbs, kCore, kConfigMaps}},
    {.rule = {kUpdate, kCore, kFinalizers}},
    {.rule = {kRead, kCore, kSecrets}, .ns = "shop"},
    {.rule = {kRead, kCore, kPods}, .external = true},
    {.rule = rbac::kEventsRule},
};
// Writes the text of each ConfigMap with a member "copy" to another one, "NAME-copy".
constexpr rbac::Mandate kMirror = {"mirror", kRules};

const rbac::Permission kCreate = {"mirror", "create", "", "configmaps"};

absl::StatusOr<Result> Mirror(const Component& component, const CallContext& context,
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

absl::StatusOr<std::unique_ptr<Controller>> MakeMirror(const Component& component) {
  return ControllerBuilder<kMirror>(component.controller_context)
      .For<ConfigMap>()
      .Complete(std::make_unique<FunctionReconciler>(
          [&component](const CallContext& context, const Request& request) {
            return Mirror(component, context, request);
          }));
}

auto Says(std::string text) {
  return [text = std::move(text)](const ConfigMap& map) { return map.data().at("text") == text; };
}

class EnvironmentTest : public testing::Test {
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

TEST_F(EnvironmentTest, RunsTheComponents) {
  Environment environment(Options());
  const ObjectKey copy = environment.Key("a-copy");
  const auto created = environment.Create<ConfigMap>("{metadata: {name: a}, data: {copy: x}}");
  EXPECT_NE(created.metadata().uid(), "");
  EXPECT_EQ(created.metadata().namespace_(), environment.ns());
  EXPECT_EQ(environment.Eventually<ConfigMap>(copy, Says("x")).metadata().name(), "a-copy");
  environment.Patch<ConfigMap>({"", "a"}, "data: {copy: y}");
  environment.Eventually<ConfigMap>(copy, Says("y"));
  environment.Apply<ConfigMap>("{metadata: {name: a}, data: {copy: z}}");
  environment.Eventually<ConfigMap>(copy, Says("z"));
  environment.Delete<ConfigMap>(environment.Key("a"));
  environment.Gone<ConfigMap>(copy);
  EXPECT_FALSE(environment.Get<ConfigMap>(copy).has_value());
  EXPECT_GT(environment.log().Count("Became leader"), 0);
}

TEST_F(EnvironmentTest, ServesCustomResources) {
  Environment environment(Options());
  environment.Create<ScopeTemplate>("{metadata: {name: a}, spec: {clusterRoles: []}}");
  ASSERT_TRUE(environment.Get<ScopeTemplate>({"", "a"}).has_value());
  environment.Patch<ScopeTemplate>({"", "a"}, "metadata: {labels: {colour: red}}");
  environment.Eventually<ScopeTemplate>(
      {"", "a"}, [](const auto& object) { return object.metadata().labels().contains("colour"); });
  environment.Delete<ScopeTemplate>({"", "a"});
  environment.Gone<ScopeTemplate>({"", "a"});
}

TEST_F(EnvironmentTest, DeniesAndGrantsOnePermission) {
  Environment environment(Options());
  environment.Deny(kCreate);
  environment.Create<ConfigMap>("{metadata: {name: a}, data: {copy: x}}");
  EXPECT_THAT(environment.log().Await("cannot create resource"), HasSubstr("component=mirror"));
  EXPECT_FALSE(Can(environment, "create", "configmaps", "shop"));
  EXPECT_TRUE(Can(environment, "patch", "configmaps", "shop"));
  environment.Grant(kCreate);
  environment.Eventually<ConfigMap>(environment.Key("a-copy"), Says("x"));
}

TEST_F(EnvironmentTest, DeniesAndGrantsAComponent) {
  Environment environment(Options());
  environment.Deny(kMirror);
  EXPECT_FALSE(Can(environment, "list", "configmaps", "shop"));
  EXPECT_FALSE(Can(environment, "get", "secrets", "shop"));
  environment.Grant(kMirror);
  EXPECT_TRUE(Can(environment, "list", "configmaps", "shop"));
  EXPECT_TRUE(Can(environment, "get", "secrets", "shop"));
  environment.Deny(kCreate);
  environment.Grant(kMirror);
  EXPECT_TRUE(Can(environment, "create", "configmaps", "shop")) << "one that was denied alone, too";
  environment.Deny(kCreate);
  environment.Deny(kMirror);
  environment.Grant(kCreate);
  EXPECT_FALSE(Can(environment, "list", "configmaps", "shop")) << "the component is still denied";
}

TEST_F(EnvironmentTest, GrantsRulesWhereTheyApply) {
  Environment environment(Options());
  EXPECT_TRUE(Can(environment, "get", "secrets", "shop"));
  EXPECT_FALSE(Can(environment, "get", "secrets", environment.ns()));
  EXPECT_FALSE(Can(environment, "get", "pods", "shop")) << "the rule is external";
  environment.GrantExternal(kMirror, "shop");
  EXPECT_TRUE(Can(environment, "get", "pods", "shop"));
  EXPECT_FALSE(Can(environment, "get", "pods", environment.ns()));
  environment.DenyExternal(kMirror, "shop");
  environment.GrantExternal(kMirror, "");
  EXPECT_TRUE(Can(environment, "get", "pods", environment.ns()));
  environment.DenyExternal(kMirror, "");
  EXPECT_FALSE(Can(environment, "get", "pods", "shop"));
}

TEST_F(EnvironmentTest, GrantsExternalRulesForOneObject) {
  Environment environment(Options());
  const ObjectKey pod = {"shop", "till"};
  const auto can_get = [&](const ObjectKey& key) {
    const auto review = CanI(environment.Context(), *client_, key.ns,
                             {.verbs = {"get"},
                              .api_groups = {""},
                              .resources = {"pods"},
                              .resource_names = {key.name}});
    return review.ok() && review->status().allowed();
  };
  environment.GrantExternalObject(kMirror, pod);
  EXPECT_TRUE(can_get(pod));
  EXPECT_FALSE(can_get({"shop", "other"}));
  EXPECT_FALSE(can_get({environment.ns(), "till"}));
  EXPECT_FALSE(Can(environment, "get", "pods", "shop"));
  environment.GrantExternal(kMirror, "shop");
  environment.DenyExternalObject(kMirror, pod);
  EXPECT_TRUE(can_get(pod)) << "the namespace's grant permits the same";
  environment.GrantExternalObject(kMirror, pod);
  environment.DenyExternal(kMirror, "shop");
  EXPECT_TRUE(can_get(pod));
  EXPECT_FALSE(can_get({"shop", "other"}));
  environment.DenyExternalObject(kMirror, pod);
  EXPECT_FALSE(can_get(pod));
  EXPECT_THAT(FailureOf([&] {
                environment.GrantExternalObject(kMirror, {"shop", ""});
              }),
              HasSubstr("the object has no name"));
}

// Events have names that a test cannot know.
TEST_F(EnvironmentTest, WaitsForTheObjectsOfANamespace) {
  Environment environment(Options());
  std::vector<size_t> seen;
  const auto is = [&](size_t wanted) {
    return [&seen, wanted](const std::vector<ConfigMap>& maps) {
      size_t copies = 0;
      for (const ConfigMap& map : maps) copies += map.metadata().name().ends_with("-copy");
      seen.push_back(copies);
      return copies == wanted;
    };
  };
  environment.EventuallyList<ConfigMap>(environment.ns(), is(0));
  EXPECT_THAT(seen, testing::ElementsAre(0u)) << "called when all are known, not before";
  environment.Create<ConfigMap>("{metadata: {name: a}, data: {copy: x}}");
  environment.Create<ConfigMap>("{metadata: {name: b}, data: {copy: y}}");
  const auto both = environment.EventuallyList<ConfigMap>(environment.ns(), is(2));
  EXPECT_GE(both.size(), 4u);
  EXPECT_GE(environment.EventuallyList<ConfigMap>("", is(2)).size(), 4u);
  environment.Delete<ConfigMap>(environment.Key("a"));
  environment.EventuallyList<ConfigMap>(environment.ns(), is(1));
}

TEST_F(EnvironmentTest, RemovesThePermissionOfAMutation) {
  setenv("MANDATE_WITHOUT", kCreate.ToString().c_str(), 1);
  {
    Environment environment(Options());
    EXPECT_FALSE(Can(environment, "create", "configmaps", "shop"));
    environment.Deny(kMirror);
    environment.Grant(kMirror);
    EXPECT_TRUE(Can(environment, "patch", "configmaps", "shop"));
    EXPECT_FALSE(Can(environment, "create", "configmaps", "shop"));
  }
  unsetenv("MANDATE_WITHOUT");
}

TEST_F(EnvironmentTest, PrintsAnObjectThatIsNotAsExpected) {
  if (!TestKubeconfig().empty()) GTEST_SKIP() << "a real server may need longer to start";
  EnvironmentOptions options = Options();
  options.patience = absl::Milliseconds(200);
  Environment environment(std::move(options));
  environment.Create<ConfigMap>("{metadata: {name: a}, data: {colour: red}}");
  int line = 0;
  const auto failures = FailuresOf([&] {
    line = __LINE__ + 1;
    environment.Eventually<ConfigMap>(environment.Key("a"), [](const ConfigMap& map) {
      return map.data().at("colour") == "blue";
    });
  });
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].line_number(), line);
  EXPECT_THAT(failures[0].file_name(), HasSubstr("environment_test.cc"));
  EXPECT_THAT(failures[0].message(), AllOf(HasSubstr("/a is not as expected after 200ms"),
                                           HasSubstr(R"("colour" : "red")"),
                                           HasSubstr("manager's log"), HasSubstr("Became leader")));
  EXPECT_THAT(FailureOf([&] {
                environment.Gone<ConfigMap>({"", "a"});
              }),
              HasSubstr("/a still exists after 200ms"));
  EXPECT_THAT(FailureOf([&] {
                environment.Eventually<ConfigMap>({"", "b"}, [](const auto&) { return true; });
              }),
              HasSubstr("/b is not as expected after 200ms: it is absent"));
  const auto never = [](const std::vector<ConfigMap>&) { return false; };
  EXPECT_THAT(
      FailureOf([&] { environment.EventuallyList<ConfigMap>(environment.ns(), never); }),
      AllOf(HasSubstr("the configmaps of namespace"), HasSubstr("are not as expected after 200ms"),
            HasSubstr(R"("colour" : "red")")));
  EXPECT_THAT(FailureOf([&] { environment.EventuallyList<ConfigMap>("none", never); }),
              HasSubstr("of namespace none are not as expected after 200ms: no object exists"));
}

TEST_F(EnvironmentTest, WaitsShortlyAfterAWaitInVain) {
  EnvironmentOptions options = Options();
  options.patience = absl::Seconds(2);
  Environment environment(std::move(options));
  const auto wait = [&] {
    return FailureOf([&] { environment.Gone<corev1::Namespace>({"", environment.ns()}); });
  };
  EXPECT_THAT(wait(), HasSubstr("still exists after 2s"));
  EXPECT_THAT(wait(), HasSubstr("still exists after 1s"));
}

TEST_F(EnvironmentTest, IsLessPatientUnderAMutation) {
  setenv("MANDATE_WITHOUT", kCreate.ToString().c_str(), 1);
  {
    EnvironmentOptions options = Options();
    options.patience = absl::Hours(1);
    Environment environment(std::move(options));
    const CallContext context = environment.Context();
    EXPECT_LE(context.deadline - absl::Now(), absl::Seconds(10));
  }
  unsetenv("MANDATE_WITHOUT");
}

TEST_F(EnvironmentTest, ReportsCallsThatFail) {
  Environment environment(Options());
  const char* const object = "{metadata: {name: a}}";
  environment.Create<ConfigMap>(object);
  EXPECT_THAT(FailureOf([&] { environment.Create<ConfigMap>(object); }),
              AllOf(HasSubstr("cannot create a ConfigMap"), HasSubstr("already exists")));
  EXPECT_THAT(FailureOf([&] {
                environment.Patch<ConfigMap>({"", "b"}, "data: {}");
              }),
              AllOf(HasSubstr("cannot patch a ConfigMap"), HasSubstr("not found")));
  EXPECT_THAT(FailureOf([&] {
                environment.Delete<ConfigMap>({"", "b"});
              }),
              HasSubstr("cannot delete"));
  EXPECT_THAT(FailureOf([&] {
                environment.Deny({"mirror", "update", "", "configmaps"});
              }),
              HasSubstr("no marker declares \"mirror update configmaps.\""));
  EXPECT_THAT(FailureOf([&] {
                environment.Grant({"other", "update", "", "configmaps"});
              }),
              HasSubstr("component other does not run here"));
  ConfigMap same;
  same.mutable_metadata()->set_name("a");
  same.mutable_metadata()->set_namespace_(environment.ns());
  EXPECT_TRUE(
      absl::IsAlreadyExists(environment.client().Create(environment.Context(), same).status()));
}

TEST_F(EnvironmentTest, RejectsInvalidYaml) {
  Environment environment(Options());
  EXPECT_THAT(FailureOf([&] { environment.Create<ConfigMap>("{metadata: {name: a}, dota: {}}"); }),
              AllOf(HasSubstr("cannot create a ConfigMap"), HasSubstr("dota")));
  EXPECT_THAT(FailureOf([&] { environment.Apply<ConfigMap>("{metadata: ["); }),
              HasSubstr("not YAML"));
  EXPECT_THAT(FailureOf([&] {
                environment.Patch<ConfigMap>({"", "a"}, "{");
              }),
              HasSubstr("not YAML"));
}

TEST_F(EnvironmentTest, ReportsAManagerThatDoesNotEndCleanly) {
  Latch begun, ready;
  AwaitedLog* log = nullptr;
  const auto stuck = [&](const Component& component) -> absl::StatusOr<Controllers> {
    ASSIGN_OR_RETURN(
        auto controller,
        ControllerBuilder<kMirror>(component.controller_context)
            .For<ConfigMap>()
            .Complete(std::make_unique<FunctionReconciler>([&](const CallContext&, const Request&) {
              begun.Set();
              ready.Wait();
              log->Await("Stopped");
              return Result{};
            })));
    Controllers controllers;
    controllers.push_back(std::move(controller));
    return controllers;
  };
  EXPECT_THAT(FailureOf([&] {
                Environment environment(
                    {.components = {{&kMirror, stuck}}, .configure = [](ManagerOptions& manager) {
                       manager.graceful_shutdown_timeout = absl::Milliseconds(10);
                     }});
                log = &environment.log();
                environment.Create<ConfigMap>("{metadata: {name: a}}");
                begun.Wait();
                ready.Set();
              }),
              HasSubstr("the manager did not end cleanly"));
}

}  // namespace
}  // namespace mandate
