// The failures that Environment reports to a test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "testing/environment/mirror_fixture.h"

namespace mandate {
namespace {

using corev1::ConfigMap;
using testing::AllOf;
using testing::HasSubstr;

class EnvironmentFailuresTest : public MirrorTest {};

TEST_F(EnvironmentFailuresTest, PrintsAnObjectThatIsNotAsExpected) {
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
  EXPECT_THAT(failures[0].file_name(), HasSubstr("environment_failures_test.cc"));
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

TEST_F(EnvironmentFailuresTest, WaitsShortlyAfterAWaitInVain) {
  if (!TestKubeconfig().empty()) GTEST_SKIP() << "a real server may need longer to start";
  EnvironmentOptions options = Options();
  options.patience = absl::Seconds(2);
  Environment environment(std::move(options));
  const auto wait = [&] {
    return FailureOf([&] { environment.Gone<corev1::Namespace>({"", environment.ns()}); });
  };
  EXPECT_THAT(wait(), HasSubstr("still exists after 2s"));
  EXPECT_THAT(wait(), HasSubstr("still exists after 1s"));
}

TEST_F(EnvironmentFailuresTest, ReportsCallsThatFail) {
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

TEST_F(EnvironmentFailuresTest, RejectsInvalidYaml) {
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

TEST_F(EnvironmentFailuresTest, ReportsAManagerThatDoesNotEndCleanly) {
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
