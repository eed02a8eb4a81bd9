#include "rbacgen/emit/webhook/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

struct Result {
  Webhooks webhooks;
  std::string report;
};

Result Read(std::string_view text, Severity misplaced = Severity::kError) {
  Result result;
  Diagnostics diagnostics;
  ReadWebhooks("a.go", text, misplaced, &result.webhooks, &diagnostics);
  result.report = diagnostics.Report();
  return result;
}

// A valid marker with these arguments changed or added.
std::string Marker(std::initializer_list<std::pair<const std::string, std::string>> changes) {
  std::map<std::string, std::string> arguments = {
      {"path", "/validate"},     {"mutating", "false"},
      {"failurePolicy", "fail"}, {"sideEffects", "None"},
      {"groups", "apps"},        {"resources", "deployments"},
      {"verbs", "create"},       {"versions", "v1"},
      {"name", "a.b.c"},         {"admissionReviewVersions", "v1"}};
  for (const auto& [name, value] : changes) arguments[name] = value;
  std::string text;
  for (const auto& [name, value] : arguments) {
    if (value != "-") StrAppend(&text, text.empty() ? "" : ",", name, "=", value);
  }
  return StrCat("// +kubebuilder:webhook:", text, "\n");
}

TEST(ReadWebhooks, ReadsAMarkerWithOnlyRequiredArguments) {
  const Result r = Read(Marker({}));
  EXPECT_EQ(r.report, "");
  ASSERT_THAT(r.webhooks.webhooks, SizeIs(1));
  const Webhook& webhook = r.webhooks.webhooks[0];
  EXPECT_EQ(WriteJson(webhook.object),
            R"({"admissionReviewVersions":["v1"],"clientConfig":{"service":{"name":)"
            R"("webhook-service","namespace":"system","path":"/validate"}},"failurePolicy":"Fail",)"
            R"("name":"a.b.c","rules":[{"apiGroups":["apps"],"apiVersions":["v1"],"operations":)"
            R"(["CREATE"],"resources":["deployments"]}],"sideEffects":"None"})");
  EXPECT_FALSE(webhook.mutating);
  EXPECT_FALSE(webhook.names_service || webhook.names_namespace);
  EXPECT_EQ(webhook.component, "");
  EXPECT_EQ(webhook.place, (Place{"a.go", 1}));
}

TEST(ReadWebhooks, BelongToTheComponentAbove) {
  const Result r = Read(
      Marker({}) + "// +mandate:component:name=own,value=own.enabled,events=none\n" + Marker({}));
  ASSERT_THAT(r.webhooks.webhooks, SizeIs(2));
  EXPECT_EQ(r.webhooks.webhooks[0].component, "");
  EXPECT_EQ(r.webhooks.webhooks[1].component, "own");
}

TEST(ReadWebhooks, ReadsNamesOfConfigurations) {
  const Result r = Read(
      "// +kubebuilder:webhookconfiguration:mutating=true,name=mine\n"
      "// +kubebuilder:webhookconfiguration:mutating=false\n");
  EXPECT_EQ(r.report, "");
  ASSERT_THAT(r.webhooks.names, SizeIs(1));
  EXPECT_TRUE(r.webhooks.names[0].mutating);
  EXPECT_EQ(r.webhooks.names[0].name, "mine");
}

TEST(ReadWebhooks, ReportsMistakes) {
  const struct {
    std::string text;
    std::string report;
  } cases[] = {
      {Marker({{"name", "-"}}), "missing argument \"name\""},
      {Marker({{"admissionReviewVersions", "-"}}), "missing argument \"admissionReviewVersions\""},
      {Marker({{"color", "red"}}), "unknown argument \"color\""},
      {Marker({{"mutating", "yes"}}), "argument \"mutating\" must be true or false"},
      {Marker({{"timeoutSeconds", "x"}}), "argument \"timeoutSeconds\" must be an integer"},
      {Marker({{"timeoutSeconds", "31"}}), "timeoutSeconds must be between 1 and 30, got 31"},
      {Marker({{"timeoutSeconds", "-1"}}), "timeoutSeconds must be between 1 and 30, got -1"},
      {Marker({{"servicePort", "70000"}}), "port must be between 1 and 65535, got 70000"},
      {Marker({{"sideEffects", "-"}}), "sideEffects is missing"},
      {Marker({{"sideEffects", "some"}}), "sideEffects \"Some\": it must be None"},
      {Marker({{"sideEffects", "few"}}), "sideEffects \"few\": it must be None"},
      {Marker({{"failurePolicy", "stop"}}), "failurePolicy \"stop\" must be one of Fail, Ignore"},
      {Marker({{"matchPolicy", "near"}}), "matchPolicy \"near\" must be one of Exact, Equivalent"},
      {Marker({{"mutating", "true"}, {"reinvocationPolicy", "twice"}}),
       "reinvocationPolicy \"twice\" must be one of Never, IfNeeded"},
      {Marker({{"reinvocationPolicy", "Never"}}),
       "reinvocationPolicy applies only to mutating webhooks"},
      {Marker({{"verbs", "create;get"}}), "verb \"get\" must be one of create"},
      {Marker({{"verbs", "create;*"}}), "verbs has \"*\" and other items"},
      {Marker({{"groups", ""}}), "groups is empty"},
      {Marker({{"groups", "apps;*"}}), "groups has \"*\" and other items"},
      {Marker({{"versions", "v1;*"}}), "versions has \"*\" and other items"},
      {Marker({{"versions", ""}}), "versions is empty"},
      {Marker({{"servicePort", "0"}}), "port must be between 1 and 65535, got 0"},
      {Marker({{"timeoutSeconds", "0"}}), "timeoutSeconds must be between 1 and 30, got 0"},
      {Marker({{"resources", "a/*;a/b"}}), "resources has \"a/*\" and \"a/b\""},
      {Marker({{"resources", "*;b"}}), "resources has \"*\" and \"b\""},
      {Marker({{"resources", "*/*;b"}}), "resources has \"*/*\" and other items"},
      {Marker({{"resources", "/b"}}), "resources has \"/b\", which has an empty part"},
      {Marker({{"name", "short.name"}}), "must be a domain name of at least three parts"},
      {Marker({{"admissionReviewVersions", "v2"}}), "admissionReviewVersions must include v1"},
      {Marker({{"admissionReviewVersions", "v1;v1"}}), "contains \"v1\" twice"},
      {Marker({{"webhookVersions", "v1beta1"}}), "webhookVersions \"v1beta1\" is not supported"},
      {Marker({{"url", "https://x"}}), "needs either path (of the service) or url"},
      {Marker({{"path", "-"}}), "needs either path (of the service) or url"},
      {Marker({{"path", "-"}, {"url", "\"http://x/y\""}}), "must be https://host[:port]/path"},
      {Marker({{"path", "-"}, {"url", "\"https://u@x/y\""}}), "must not have a user"},
      {Marker({{"path", "-"}, {"url", "\"https://x/y?z\""}}), ", ? or #"},
      {Marker({{"path", "-"}, {"url", "\"https://x/y#z\""}}), ", ? or #"},
      {Marker({{"path", "-"}, {"url", "\"https:///y\""}}), "must be https://host[:port]/path"},
      {Marker({{"path", "-"}, {"url", "\"https://:1/y\""}}), "must be https://host[:port]/path"},
      {Marker({{"path", "validate"}}), "path \"validate\" must begin with /"},
      {Marker({{"path", "/a/B"}}), "path \"/a/B\": \"B\" must consist of lower-case letters"},
      {Marker({{"path", "/a//b"}}), "path \"/a//b\": \"\" must consist"},
      {Marker({{"patch", "`{`"}}), "+kubebuilder:webhook: patch: "},
      {Marker({{"patch",
                R"(`{"objectSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}}`)"}}),
       "objectSelector: In needs values"},
      {Marker({{"patch",
                R"(`{"objectSelector":{"matchExpressions":[{"key":"a","operator":"NotIn"}]}}`)"}}),
       "objectSelector: NotIn needs values"},
      {Marker({{"patch", R"(`{"namespaceSelector":{"matchExpressions":)"
                         R"([{"key":"a","operator":"Exists","values":["b"]}]}}`)"}}),
       "namespaceSelector: Exists takes no values"},
      {Marker({{"patch", R"(`{"namespaceSelector":{"matchExpressions":)"
                         R"([{"key":"a","operator":"DoesNotExist","values":["b"]}]}}`)"}}),
       "namespaceSelector: DoesNotExist takes no values"},
      {Marker({{"patch",
                R"(`{"objectSelector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}`)"}}),
       "objectSelector: operator \"Like\" must be one of In"},
      {Marker({{"patch", R"(`{"objectSelector":{"matchExpressions":[{"operator":"Exists"}]}}`)"}}),
       "objectSelector: an expression has no key"},
      {Marker({{"patch", R"(`{"matchConditions":[{"expression":"x"}]}`)"}}),
       "a match condition has no name"},
      {Marker({{"patch", R"(`{"matchConditions":[{"name":"a","expression":""}]}`)"}}),
       "match condition \"a\" has no expression"},
      {"// +kubebuilder:webhookconfiguration:name=mine\n", "missing argument \"mutating\""},
      {"// +kubebuilder:webhook\n", "missing argument \"mutating\""},
      {"// +kubebuilder:webhok:mutating=true\n", "+kubebuilder:webhook:argument=value"},
      {"// +kubebuilder:Webhook:mutating=true\n", "unknown marker \"+kubebuilder:Webhook\""},
      {"// +kubebuilder:webhookconfigurations:mutating=true\n",
       "+kubebuilder:webhookconfiguration:argument=value"},
      {"// +kubebuilder:webhookconfiguration:mutating=true,name=Mine\n", "name: \"Mine\""},
      {"/" + Marker({}), "in a documentation comment is not read as a marker"},
      {"code() " + Marker({}), "after code is not read as a marker"},
  };
  for (const auto& c : cases) {
    const Result r = Read("\n" + c.text);
    EXPECT_THAT(r.report, HasSubstr("a.go:2: error: ")) << c.text;
    EXPECT_THAT(r.report, HasSubstr(c.report)) << c.text;
  }
}

TEST(ReadWebhooks, AcceptsTheLimitsOfTheApiServer) {
  const std::string texts[] = {
      Marker({{"timeoutSeconds", "1"}}),
      Marker({{"timeoutSeconds", "30"}}),
      Marker({{"servicePort", "1"}}),
      Marker({{"servicePort", "65535"}}),
      Marker({{"sideEffects", "NoneOnDryRun"}}),
      Marker({{"path", "/"}}),
      Marker({{"path", "/a/"}}),
      Marker({{"verbs", "*"}, {"groups", "*"}, {"versions", "*"}, {"resources", "*/*"}}),
      Marker({{"resources", "a;a/b;c/*"}}),
      Marker({{"path", "-"}, {"url", "\"https://x:1/y\""}}),
  };
  for (const std::string& text : texts) EXPECT_EQ(Read(text).report, "") << text;
}

TEST(ReadWebhooks, RejectsMoreThan64MatchConditions) {
  std::string conditions;
  const auto read = [&] {
    return Read(Marker({{"patch", StrCat("`{\"matchConditions\":[", conditions, "]}`")}})).report;
  };
  for (int i = 0; i < 64; ++i) {
    StrAppend(&conditions, i == 0 ? "" : ",", R"({"name":"c)", i, R"(","expression":"x"})");
  }
  EXPECT_EQ(read(), "");
  conditions += R"(,{"name":"c64","expression":"x"})";
  EXPECT_THAT(read(),
              HasSubstr("a.go:1: error: +kubebuilder:webhook: more than 64 match conditions"));
}

TEST(ReadWebhooks, SkipsAWebhookWithAMistake) {
  EXPECT_THAT(Read(Marker({{"timeoutSeconds", "31"}})).webhooks.webhooks, SizeIs(0));
}

TEST(ReadWebhooks, MarkersThatControllerGenSkipsMayBeWarnings) {
  const Result r =
      Read(Marker({{"reinvocationPolicy", "Never"}}) + "/" + Marker({}), Severity::kWarning);
  EXPECT_THAT(r.report, HasSubstr("a.go:1: warning: reinvocationPolicy"));
  EXPECT_THAT(r.report, HasSubstr("a.go:2: warning: +kubebuilder:webhook in a documentation"));
  EXPECT_THAT(r.webhooks.webhooks, SizeIs(1));
}

}  // namespace
}  // namespace mandate::rbacgen
