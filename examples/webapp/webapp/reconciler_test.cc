// Runs both components in a manager, each with exactly its mandate's permissions, on Mandate's
// double of the API server.
#include "webapp/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/client/object_patch.h"
#include "summary/reconciler.h"
#include "testing/environment/environment.h"
#include "webapp/plan.h"

namespace webapp {
namespace {

using mandate::Environment;
using mandate::ObjectKey;
using mandate::appsv1::Deployment;
using mandate::corev1::ConfigMap;
using mandate::corev1::Secret;
using mandate::corev1::Service;
using v1alpha1::WebApp;

// Whether the condition has this status, and a message with this text.
auto Has(std::string type, std::string status, std::string text = "") {
  return [=](const WebApp& app) {
    for (const auto& condition : app.status().conditions()) {
      if (condition.type() != type || condition.status() != status) continue;
      return condition.message().find(text) != std::string::npos;
    }
    return false;
  };
}

auto Counts(std::string webapps) {
  return [=](const ConfigMap& map) {
    return map.data().contains("webapps") && map.data().at("webapps") == webapps;
  };
}

std::string InputsOf(const Deployment& deployment) {
  return deployment.spec().template_().metadata().annotations().at("apps.example.com/inputs");
}

class ReconcilerTest : public testing::Test {
 protected:
  WebApp CreateShop(const std::string& more = "") {
    return environment_.Create<WebApp>("{metadata: {name: shop}, spec: {image: 'shop:1', port: 80" +
                                       more + "}}");
  }
  ObjectKey Record() const { return {kRecords, environment_.ns() + ".shop"}; }

  Environment environment_{
      {.components = {{&mandate::kWebapp, mandate::MakeOnlyController<MakeController>},
                      {&mandate::kWebappSummary,
                       mandate::MakeOnlyController<MakeSummaryController>}},
       .crds = {"chart/crds/apps.example.com_webapps.yaml"},
       .namespaces = {"team"}}};
  const ObjectKey shop_ = environment_.Key("shop");
};

TEST_F(ReconcilerTest, CreatesWhatAWebAppOwns) {
  const WebApp app = CreateShop(", config: {COLOUR: red}");
  environment_.Eventually<WebApp>(shop_, Has("Synced", "True"));
  const auto config = environment_.Get<ConfigMap>(shop_);
  EXPECT_EQ(config->data().at("COLOUR"), "red");
  EXPECT_EQ(config->metadata().ownerreferences(0).uid(), app.metadata().uid());
  EXPECT_EQ(environment_.Get<Service>(shop_)->spec().ports(0).port(), 80);
  EXPECT_EQ(environment_.Get<Deployment>(shop_)->spec().replicas(), 1);
  EXPECT_EQ(environment_.Get<ConfigMap>(Record())->data().at("image"), "shop:1");
}

TEST_F(ReconcilerTest, RestoresWhatIsDeletedOrChanged) {
  CreateShop();
  environment_.Eventually<WebApp>(shop_, Has("Synced", "True"));
  environment_.Delete<Service>(shop_);
  environment_.Eventually<Service>(shop_, [](const Service&) { return true; });
  environment_.Patch<Deployment>(shop_, "spec: {replicas: 7}");
  environment_.Eventually<Deployment>(shop_,
                                      [](const auto& d) { return d.spec().replicas() == 1; });
}

TEST_F(ReconcilerTest, ReportsTheReplicasOfItsDeployment) {
  CreateShop();
  environment_.Eventually<WebApp>(shop_, Has("Available", "False", "0 of 1"));
  const auto ready =
      mandate::MergePatch::Unconditional(R"({"status":{"replicas":1,"readyReplicas":1}})");
  ASSERT_TRUE(
      environment_.client().PatchStatus<Deployment>(environment_.Context(), shop_, ready).ok());
  const WebApp app = environment_.Eventually<WebApp>(shop_, Has("Available", "True", "1 of 1"));
  EXPECT_EQ(app.status().readyreplicas(), 1);
  EXPECT_EQ(app.status().selector(), SelectorOf(app));
}

TEST_F(ReconcilerTest, ASettingRestartsThePods) {
  CreateShop(", config: {COLOUR: red}");
  environment_.Eventually<WebApp>(shop_, Has("Synced", "True"));
  const std::string before = InputsOf(*environment_.Get<Deployment>(shop_));
  environment_.Patch<WebApp>(shop_, "spec: {config: {COLOUR: blue}}");
  environment_.Eventually<Deployment>(shop_, [&](const auto& d) { return InputsOf(d) != before; });
}

TEST_F(ReconcilerTest, FollowsTheSecretsThatANamespaceGrants) {
  CreateShop(", secretNamespace: team");
  environment_.Eventually<WebApp>(shop_, Has("Synced", "False", "forbidden"));
  EXPECT_FALSE(environment_.Get<Deployment>(shop_).has_value());

  environment_.GrantExternal(mandate::kWebapp, "team");
  environment_.Eventually<WebApp>(shop_, Has("Synced", "True"));
  const std::string before = InputsOf(*environment_.Get<Deployment>(shop_));
  environment_.Create<Secret>("{metadata: {name: password, namespace: team}}");
  environment_.Eventually<Deployment>(shop_, [&](const auto& d) { return InputsOf(d) != before; });

  environment_.DenyExternal(mandate::kWebapp, "team");
  environment_.Patch<WebApp>(shop_, "spec: {secretNamespace: null}");  // it needs them no longer
  environment_.Eventually<Deployment>(shop_, [&](const auto& d) { return InputsOf(d) == before; });
}

TEST_F(ReconcilerTest, ADeletedWebAppLeavesNoRecord) {
  CreateShop();
  environment_.Eventually<WebApp>(shop_, Has("Synced", "True"));
  environment_.Delete<WebApp>(shop_);
  environment_.Gone<WebApp>(shop_);
  EXPECT_FALSE(environment_.Get<ConfigMap>(Record()).has_value());
}

TEST_F(ReconcilerTest, TheSummaryCountsAllWebApps) {
  const ObjectKey summary = {kRecords, "summary"};
  CreateShop();
  environment_.Eventually<ConfigMap>(summary, Counts("1"));
  environment_.Delete<WebApp>(shop_);
  environment_.Eventually<ConfigMap>(summary, Counts("0"));
}

}  // namespace
}  // namespace webapp
