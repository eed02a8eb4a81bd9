#include "rbacgen/emit/webhook/configurations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kRest[] =
    ",failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,"
    "versions=v1,admissionReviewVersions=v1\n";

Webhooks Read(const std::string& text) {
  Webhooks webhooks;
  Diagnostics diagnostics;
  ReadWebhooks("a.go", text, Severity::kError, &webhooks, &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  return webhooks;
}

std::string Marker(const std::string& arguments) {
  return "// +kubebuilder:webhook:" + arguments + kRest;
}

std::string Check(const Webhooks& webhooks, Severity twice = Severity::kError) {
  Diagnostics diagnostics;
  CheckWebhooks(webhooks, twice, &diagnostics);
  return diagnostics.Report();
}

ConfigurationOptions WithBaseName(const std::string& name) {
  ConfigurationOptions options;
  options.base_name = name;
  return options;
}

TEST(WebhookConfigurations, AreOmittedWithoutWebhooks) {
  EXPECT_THAT(WebhookConfigurations({}, {}), SizeIs(0));
}

TEST(WebhookConfigurations, SortWebhooksByName) {
  const Webhooks webhooks = Read(Marker("mutating=false,name=z.b.c,path=/z") +
                                 Marker("mutating=true,name=m.b.c,path=/m") +
                                 Marker("mutating=false,name=a.b.c,path=/a"));
  EXPECT_EQ(Check(webhooks), "");
  const auto objects = WebhookConfigurations(webhooks, {});
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_THAT(objects[0].Write(), HasSubstr("name: mutating-webhook-configuration"));
  const std::string validating = objects[1].Write();
  EXPECT_THAT(validating, HasSubstr("name: validating-webhook-configuration"));
  EXPECT_LT(validating.find("name: a.b.c"), validating.find("name: z.b.c"));
  EXPECT_THAT(WebhookConfigurations(webhooks, WithBaseName("mine"))[1].Write(),
              HasSubstr("name: mine-validating\n"));
}

TEST(WebhookConfigurations, CallTheServiceOfTheChart) {
  const Webhooks webhooks =
      Read(Marker("mutating=false,name=a.b.c,path=/a") +
           Marker("mutating=false,name=b.b.c,path=/b,serviceName=own,serviceNamespace=far") +
           Marker("mutating=false,name=c.b.c,url=\"https://x\""));
  ConfigurationOptions options;
  options.service_name = "mandate";
  options.service_namespace = Yaml::Action("{{ .Release.Namespace }}", "plain");
  const Yaml object = WebhookConfigurations(webhooks, options).at(0);
  const std::string helm = object.Write(Yaml::Flavor::kHelm);
  EXPECT_THAT(helm, HasSubstr("name: mandate\n      namespace: {{ .Release.Namespace }}\n"));
  EXPECT_THAT(helm, HasSubstr("name: own\n      namespace: far\n"));
  EXPECT_THAT(helm, HasSubstr("url: https://x\n"));
  EXPECT_THAT(object.Write(), HasSubstr("namespace: plain\n"));
}

TEST(WebhookConfigurations, HaveOnlyWebhooksOfEnabledComponents) {
  const Webhooks webhooks =
      Read("// +mandate:component:name=on\n" + Marker("mutating=false,name=a.b.c,path=/a") +
           "// +mandate:component:name=off\n" + Marker("mutating=false,name=b.b.c,path=/b"));
  ConfigurationOptions options;
  options.condition = [](const std::string& component) {
    return Yaml::Condition{.helm = "." + component, .plain = component == "on"};
  };
  const Yaml object = WebhookConfigurations(webhooks, options).at(0);
  EXPECT_THAT(object.Write(), HasSubstr("a.b.c"));
  EXPECT_THAT(object.Write(), Not(HasSubstr("b.b.c")));
  EXPECT_THAT(object.Write(Yaml::Flavor::kHelm), HasSubstr("{{- if .off }}"));
}

TEST(CheckWebhooks, ReportsRepeatedNamesAndUnusedConfigurations) {
  const std::string a = Marker("mutating=false,name=a.b.c,path=/a");
  EXPECT_EQ(Check(Read(a + Marker("mutating=true,name=a.b.c,path=/a"))), "");
  EXPECT_THAT(Check(Read(a + a)),
              HasSubstr("a.go:2: error: the name \"a.b.c\" is also used at a.go:1"));
  EXPECT_THAT(Check(Read(a + a), Severity::kWarning), HasSubstr("a.go:2: warning: the name"));
  const std::string name = "// +kubebuilder:webhookconfiguration:mutating=false,name=mine\n";
  EXPECT_EQ(Check(Read(a + name)), "");
  EXPECT_THAT(Check(Read(name)),
              HasSubstr("a.go:1: error: the sources have no validating webhook"));
  EXPECT_THAT(
      Check(Read(a + name + name)),
      HasSubstr("a.go:3: error: the configuration of validating webhooks already has a name at "
                "a.go:2; remove one of the names"));
}

}  // namespace
}  // namespace mandate::rbacgen
