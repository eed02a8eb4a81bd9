#include "webapp/plan.h"

#include <gtest/gtest.h>

namespace webapp {
namespace {

using v1alpha1::WebApp;

WebApp Shop() {
  WebApp app;
  app.mutable_metadata()->set_namespace_("web");
  app.mutable_metadata()->set_name("shop");
  app.mutable_spec()->set_image("shop:1");
  app.mutable_spec()->set_replicas(2);
  app.mutable_spec()->set_port(8080);
  return app;
}

TEST(PlanTest, TheServiceReachesThePods) {
  const auto deployment = MakeDeployment(Shop(), "inputs");
  const auto& pod = deployment.spec().template_();
  for (const auto& [label, value] : MakeService(Shop()).spec().selector()) {
    EXPECT_EQ(pod.metadata().labels().at(label), value);
  }
  for (const auto& [label, value] : deployment.spec().selector().matchlabels()) {
    EXPECT_EQ(pod.metadata().labels().at(label), value);
  }
  EXPECT_EQ(MakeService(Shop()).spec().ports(0).targetport().intval(),
            pod.spec().containers(0).ports(0).containerport());
  EXPECT_EQ(deployment.spec().replicas(), 2);
}

TEST(PlanTest, OtherInputsRestartThePods) {
  const auto pod = [](const std::string& inputs) {
    return MakeDeployment(Shop(), inputs).spec().template_().SerializeAsString();
  };
  EXPECT_EQ(pod("a"), pod("a"));
  EXPECT_NE(pod("a"), pod("b"));
}

TEST(PlanTest, TwoNamespacesHaveTwoRecords) {
  WebApp other = Shop();
  other.mutable_metadata()->set_namespace_("web2");
  EXPECT_NE(MakeRecord(Shop()).metadata().name(), MakeRecord(other).metadata().name());
}

TEST(PlanTest, TheStatusIsThatOfTheDeployment) {
  mandate::appsv1::Deployment deployment;
  deployment.mutable_status()->set_replicas(3);
  deployment.mutable_status()->set_readyreplicas(1);
  EXPECT_EQ(MakeStatus(Shop(), &deployment).replicas(), 3);
  EXPECT_EQ(MakeStatus(Shop(), &deployment).readyreplicas(), 1);
  EXPECT_EQ(MakeStatus(Shop(), nullptr).readyreplicas(), 0);
}

}  // namespace
}  // namespace webapp
