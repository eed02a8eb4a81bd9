#include "rbacgen/ask/question.h"

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

TEST(ParseQuestion, AcceptsTheSyntaxOfKubectl) {
  const World world = TreeOf("// +kubebuilder:rbac:groups=g.io,resources=things,verbs=get\n");
  const struct {
    const char* resource;
    const char* subresource;
    const char* want;  // group|resource|subresource|name
  } kCases[] = {
      {"pods", "", "|pods||"},
      {"Pod", "", "|pods||"},
      {"pods/web", "log", "|pods|log|web"},
      {"po/Web", "log", "|pods|log|Web"},
      {"deployments.apps/web", "scale", "apps|deployments|scale|web"},
      {"deploy.v1.apps/web", "", "apps|deployments||web"},
      {"thing", "status", "g.io|things|status|"},
      {"unknown", "", "|unknown||"},
      {"*", "", "*|*||"},
  };
  for (const auto& c : kCases) {
    const auto a = ParseQuestion({"get", c.resource, c.subresource, "n"}, world);
    ASSERT_TRUE(a.ok()) << c.resource;
    EXPECT_EQ(a->api_group + "|" + a->resource + "|" + a->subresource + "|" + a->name, c.want)
        << c.resource;
    EXPECT_EQ(a->ns, "n");
  }
  const auto path = ParseQuestion({"get", "/metrics", "", ""}, world);
  ASSERT_TRUE(path.ok());
  EXPECT_FALSE(path->is_resource_request);
  EXPECT_EQ(path->path, "/metrics");
  for (const QuestionText& text : {QuestionText{"get", "", "", ""},
                                   {"", "pods", "", ""},
                                   {"get", "pods/", "", ""},
                                   {"get", "/metrics", "", "n"}}) {
    EXPECT_FALSE(ParseQuestion(text, world).ok()) << text.resource;
  }
}

TEST(QuestionDoubts, ReportPartsThatMayBeMisread) {
  const struct {
    QuestionText text;
    const char* want;
  } kCases[] = {
      {{"get", "pods", "", ""}, ""},
      {{"get", "pods/web", "log", ""}, ""},
      {{"get", "pods/web/log", "", ""},
       "\"web/log\" is read as the name of an object of pods, as kubectl does; for a subresource, "
       "use --subresource"},
      {{"bind", "clusterroles/view", "", ""}, ""},
      {{"escalate", "roles", "", ""}, ""},
      {{"impersonate", "users/jane", "", ""}, ""},
      {{"use", "things.example.com", "", ""}, ""},
      {{"get", "/metrics", "", ""}, ""},
      {{"*", "*", "", ""}, ""},
      {{"create", "serviceaccounts/token", "", ""},
       "\"token\" is read as the name of an object of serviceaccounts, as kubectl does; for the "
       "subresource, write serviceaccounts --subresource=token"},
      {{"patch", "things.example.com/status", "", ""},
       "\"status\" is read as the name of an object of things, as kubectl does; for the "
       "subresource, write things.example.com --subresource=status"},
      {{"get", "Pod", "", ""}, ""},
      {{"get", "podz", "", ""},
       "OPEN unknown resource \"podz\" in the core group; did you mean \"pods\" in the core "
       "group?"},
      {{"GET", "pods", "", ""},
       "OPEN verb \"GET\" has capital letters: the verbs of requests are in lower case"},
      {{"GET", "/metrics", "", ""},
       "OPEN verb \"GET\" has capital letters: the verbs of requests are in lower case"},
      {{"impersonate-on:serviceAccount:get", "pods", "", ""}, ""},
      {{"get", "nodes/n1", "", "shop"}, "nodes are not namespaced; omit -n"},
      {{"get", "namespaces/shop", "", "shop"}, ""},
      {{"bind", "clusterroles/view", "", "shop"}, ""},
      {{"get", "widgets", "", ""},
       "OPEN unknown resource \"widgets\" in the core group of Kubernetes 1.36; "
       "write RESOURCE.GROUP for another"},
      {{"get", "widgets.apps", "", ""},
       "unknown resource \"widgets\" in group apps of Kubernetes 1.36; write RESOURCE.GROUP for "
       "another"},
      {{"get", "podz", "lgos", ""},
       "OPEN unknown resource \"podz/lgos\" in the core group of Kubernetes 1.36; "
       "write RESOURCE.GROUP for another"},
      {{"get", "pods", "lgo", ""},
       "OPEN unknown resource \"pods/lgo\" in the core group; did you mean \"pods/log\" in the "
       "core group?"},
      {{"delet", "secretz", "", ""},
       "OPEN unknown verb \"delet\"; did you mean \"delete\"?\n"
       "OPEN unknown resource \"secretz\" in the core group; did you mean \"secrets\" in the "
       "core group?"},
      {{"delet", "*", "", ""}, "OPEN unknown verb \"delet\"; did you mean \"delete\"?"},
      {{"gte", "secrets", "", ""}, "OPEN unknown verb \"gte\"; did you mean \"get\"?"},
      {{"get", "gizmoz", "", ""}, ""},
      {{"delete", "pods/web", "exec", ""},
       "pods/exec does not support verb \"delete\"; it supports only create, get"},
  };
  // A cluster's `kubectl api-resources` may name a resource of a newer Kubernetes like this.
  World world;
  world.custom = {{"", "gizmoz", "gizmoz", {}}, {"", "pods", "pod", {"po"}}};
  for (const auto& c : kCases) {
    const auto request = ParseQuestion(c.text, world);
    ASSERT_TRUE(request.ok()) << c.text.resource;
    std::string got;
    for (const QuestionDoubt& doubt : QuestionDoubts(c.text, *request, world)) {
      StrAppend(&got, got.empty() ? "" : "\n", doubt.is_open ? "OPEN " : "", doubt.text);
    }
    EXPECT_EQ(got, c.want) << c.text.verb << " " << c.text.resource;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
