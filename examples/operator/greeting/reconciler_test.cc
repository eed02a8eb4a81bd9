// Runs the component in a manager, with exactly its mandate's permissions, on Mandate's double of
// the API server.
#include "greeting/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "greeting/plan.h"
#include "testing/environment/environment.h"

namespace example {
namespace {

using mandate::Environment;
using mandate::corev1::ConfigMap;
using v1alpha1::Greeting;

auto Says(std::string text) {
  return [=](const ConfigMap& map) {
    return map.data().contains(kMessageKey) && map.data().at(kMessageKey) == text;
  };
}

// Whether the condition Ready has this status, and a message with this text.
auto Ready(std::string status, std::string text = "") {
  return [=](const Greeting& greeting) {
    for (const auto& condition : greeting.status().conditions()) {
      if (condition.type() != "Ready" || condition.status() != status) continue;
      return condition.message().find(text) != std::string::npos;
    }
    return false;
  };
}

class ReconcilerTest : public testing::Test {
 protected:
  Environment environment_{
      {.components = {{&mandate::kGreeting, mandate::MakeOnlyController<MakeController>}},
       .crds = {"chart/crds/example.com_greetings.yaml"}}};
  const mandate::ObjectKey ann_ = environment_.Key("ann");
};

TEST_F(ReconcilerTest, RestoresADeletedConfigMap) {
  environment_.Create<Greeting>("{metadata: {name: ann}, spec: {name: Ann}}");
  environment_.Eventually<Greeting>(ann_, Ready("True"));
  environment_.Delete<ConfigMap>(ann_);
  environment_.Eventually<ConfigMap>(ann_, Says("Hello, Ann!"));
}

TEST_F(ReconcilerTest, IsSilentWhenNothingChanges) {
  environment_.Create<Greeting>("{metadata: {name: ann}, spec: {name: Ann}}");
  environment_.Eventually<Greeting>(ann_, Ready("True"));
  const auto map = environment_.Get<ConfigMap>(ann_);
  // This makes the component reconcile ann again, and then bob.
  const auto greeting = environment_.Patch<Greeting>(ann_, "metadata: {labels: {colour: red}}");
  environment_.Create<Greeting>("{metadata: {name: bob}, spec: {name: Bob}}");
  environment_.Eventually<Greeting>(environment_.Key("bob"), Ready("True"));
  EXPECT_EQ(environment_.Get<ConfigMap>(ann_)->metadata().resourceversion(),
            map->metadata().resourceversion());
  EXPECT_EQ(environment_.Get<Greeting>(ann_)->metadata().resourceversion(),
            greeting.metadata().resourceversion());
}

TEST_F(ReconcilerTest, ReportsAForeignConfigMap) {
  environment_.Create<ConfigMap>("{metadata: {name: ann}, data: {message: x}}");
  environment_.Create<Greeting>("{metadata: {name: ann}, spec: {name: Ann}}");
  environment_.Eventually<Greeting>(ann_, Ready("False", "exists and does not belong"));
  EXPECT_TRUE(Says("x")(*environment_.Get<ConfigMap>(ann_)));
  environment_.Delete<ConfigMap>(ann_);
  environment_.Eventually<ConfigMap>(ann_, Says("Hello, Ann!"));
}

TEST_F(ReconcilerTest, ReportsAMissingPermission) {
  environment_.Deny({"greeting", "create", "", "configmaps"});
  environment_.Create<Greeting>("{metadata: {name: ann}, spec: {name: Ann}}");
  environment_.Eventually<Greeting>(ann_, Ready("False", "forbidden"));
  environment_.Grant(mandate::kGreeting);
  environment_.Patch<Greeting>(ann_, "spec: {name: Anna}");  // it would try again later
  environment_.Eventually<ConfigMap>(ann_, Says("Hello, Anna!"));
}

}  // namespace
}  // namespace example
