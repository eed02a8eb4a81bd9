#include "testing/environment/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "testing/environment/mirror_fixture.h"

namespace mandate {
namespace {

using corev1::ConfigMap;
using testing::HasSubstr;

class EnvironmentTest : public MirrorTest {};

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
  EXPECT_THAT(FailureOf([&] {
                environment.DenyExternalObject(kMirror, {"shop", ""});
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

}  // namespace
}  // namespace mandate
