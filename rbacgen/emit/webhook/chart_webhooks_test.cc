#include "rbacgen/emit/webhook/chart_webhooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kRest[] =
    ",failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,"
    "versions=v1,admissionReviewVersions=v1\n";

struct Result {
  std::vector<ChartFile> files;
  std::string report;
};

// The result for a chart with the components one and two.
Result Add(const std::string& source) {
  Webhooks webhooks;
  Diagnostics diagnostics;
  ReadWebhooks("a.cc", source, Severity::kError, &webhooks, &diagnostics);
  Result result;
  for (const char* name : {"base", "one", "two"}) result.files.push_back({name, {}, {}});
  AddWebhooks(webhooks, {}, &result.files, &diagnostics);
  result.report = diagnostics.Report();
  return result;
}

std::string Marker(const std::string& arguments) {
  return "// +kubebuilder:webhook:" + arguments + kRest;
}

TEST(AddWebhooks, EachComponentHasItsOwnConfigurations) {
  const Result r =
      Add("// +mandate:component:name=one\n" + Marker("mutating=true,name=m.b.c,path=/m") +
          Marker("mutating=false,name=v.b.c,path=/v") + "// +mandate:component:name=two\n" +
          Marker("mutating=false,name=w.b.c,path=/w"));
  EXPECT_EQ(r.report, "");
  EXPECT_THAT(r.files[0].objects, IsEmpty());
  ASSERT_THAT(r.files[1].objects, SizeIs(2));
  ASSERT_THAT(r.files[2].objects, SizeIs(1));
  EXPECT_THAT(r.files[1].objects[0].Write(), HasSubstr("name: mandate-manager-one-mutating\n"));
  EXPECT_THAT(r.files[1].objects[1].Write(), HasSubstr("name: mandate-manager-one-validating\n"));
  const std::string helm = r.files[2].objects[0].Write(Yaml::Flavor::kHelm);
  EXPECT_THAT(helm, HasSubstr("app.kubernetes.io/component: two\n"));
  EXPECT_THAT(helm, HasSubstr("caBundle: {{ dig \"webhooks\" \"caBundle\""));
  EXPECT_THAT(helm, HasSubstr("cert-manager.io/inject-ca-from: {{ dig"));
  EXPECT_THAT(helm, HasSubstr("name: mandate-manager-webhook\n      namespace: {{ "));
  EXPECT_THAT(r.files[2].objects[0].Write(), HasSubstr("namespace: mandate-system\n"));
}

// The report for the sources of a chart, each in a file of its own.
std::string CheckedValues(const std::vector<std::string>& texts) {
  Webhooks webhooks;
  Sources sources;
  Diagnostics diagnostics;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string file(1, static_cast<char>('a' + i));
    ReadDeclarations(file, texts[i], Severity::kError, &sources, &diagnostics);
    ReadWebhooks(file, texts[i], Severity::kError, &webhooks, &diagnostics);
  }
  CheckValuesOfWebhooks(webhooks, sources, &diagnostics);
  return diagnostics.Report();
}

TEST(CheckValuesOfWebhooks, AComponentWithWebhooksNeedsAValue) {
  const std::string v = Marker("mutating=false,name=v.b.c,path=/v");
  const std::string w = Marker("mutating=true,name=w.b.c,path=/w,serviceName=s");
  const std::string url = Marker("mutating=false,name=u.b.c,url=https://u.example.com");
  // In one of its files is enough.
  EXPECT_EQ(CheckedValues({"// +mandate:component:name=one,value=webhooks.enabled\n" + v,
                           "// +mandate:component:name=one\n" + w,
                           "// +mandate:component:name=two\n" + url, v}),
            "");
  EXPECT_EQ(
      CheckedValues({"\n// +mandate:component:name=one\n",
                     "// +mandate:component:name=one\n" + v + w,
                     "// +mandate:component:name=two,value=x\n" + v,
                     "// +mandate:component:name=three\n" + url + w}),
      "a:2: error: component one has the webhook v.b.c (b:2), but its marker has no value: the "
      "chart would install the webhook's configuration also while no manager serves it, and the "
      "API server would then deny the writes that it covers; add value=webhooks.enabled to the "
      "marker, and name another component for controllers\n"
      "d:1: error: component three has the webhook w.b.c (d:3), but its marker has no value: the "
      "chart would install the webhook's configuration also while no manager serves it, and the "
      "API server would then deny the writes that it covers; add value=webhooks.enabled to the "
      "marker, and name another component for controllers\n");
}

TEST(AddWebhooks, ReportsMistakes) {
  EXPECT_THAT(Add(Marker("mutating=false,name=v.b.c,path=/v")).report,
              HasSubstr("a.cc:1: error: this webhook has no component"));
  EXPECT_THAT(Add("// +kubebuilder:webhookconfiguration:mutating=true,name=mine\n").report,
              HasSubstr("a.cc:1: error: +kubebuilder:webhookconfiguration is not supported"));
}

}  // namespace
}  // namespace mandate::rbacgen
