#include "testing/apiserver/access/webhook.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/object_table.h"

namespace mandate::apiserver {
namespace {

const GroupResource kMutating{"admissionregistration.k8s.io", "mutatingwebhookconfigurations"};
const GroupResource kNamespaces{"", "namespaces"};

WriteAttributes Write(std::string operation, std::string group, std::string version,
                      std::string resource, std::string ns = "shop") {
  WriteAttributes write;
  write.operation = std::move(operation);
  write.group = std::move(group);
  write.version = std::move(version);
  const size_t slash = resource.find('/');
  write.resource = resource.substr(0, slash);
  if (slash != std::string::npos) write.subresource = resource.substr(slash + 1);
  write.ns = std::move(ns);
  return write;
}

TEST(WebhookRuleTest, MatchesAllThatItLists) {
  const WebhookRule rule{.operations = {"CREATE", "UPDATE"},
                         .groups = {"apps"},
                         .versions = {"v1"},
                         .resources = {"deployments", "*/scale", "pods/*"}};
  struct Case {
    WriteAttributes write;
    bool matches;
  };
  const Case cases[] = {
      {Write("CREATE", "apps", "v1", "deployments"), true},
      {Write("DELETE", "apps", "v1", "deployments"), false},
      {Write("CREATE", "", "v1", "deployments"), false},
      {Write("CREATE", "apps", "v1beta1", "deployments"), false},
      {Write("CREATE", "apps", "v1", "deployments/status"), false},
      {Write("UPDATE", "apps", "v1", "anything/scale"), true},
      {Write("UPDATE", "apps", "v1", "pods"), true},
      {Write("UPDATE", "apps", "v1", "pods/status"), true},
      {Write("UPDATE", "apps", "v1", "jobs"), false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Matches(rule, c.write), c.matches) << c.write.operation << " " << c.write.group << " "
                                                 << c.write.resource << "/" << c.write.subresource;
  }
}

TEST(WebhookRuleTest, StarsAreEverythingButSubresources) {
  const WebhookRule rule{
      .operations = {"*"}, .groups = {"*"}, .versions = {"*"}, .resources = {"*"}};
  EXPECT_TRUE(Matches(rule, Write("DELETE", "apps", "v1", "deployments")));
  EXPECT_FALSE(Matches(rule, Write("UPDATE", "apps", "v1", "deployments/status")));
  WebhookRule all = rule;
  all.resources = {"*/*"};
  EXPECT_TRUE(Matches(all, Write("UPDATE", "apps", "v1", "deployments/status")));
}

TEST(WebhookRuleTest, ANamespaceIsOfTheCluster) {
  WebhookRule rule{.operations = {"*"}, .groups = {"*"}, .versions = {"*"}, .resources = {"*"}};
  rule.scope = "Cluster";
  EXPECT_TRUE(Matches(rule, Write("UPDATE", "", "v1", "namespaces", "shop")));
  EXPECT_TRUE(Matches(rule, Write("CREATE", "", "v1", "nodes", "")));
  EXPECT_FALSE(Matches(rule, Write("CREATE", "", "v1", "pods")));
  rule.scope = "Namespaced";
  EXPECT_FALSE(Matches(rule, Write("UPDATE", "", "v1", "namespaces", "shop")));
  EXPECT_FALSE(Matches(rule, Write("CREATE", "", "v1", "nodes", "")));
  EXPECT_TRUE(Matches(rule, Write("CREATE", "", "v1", "pods")));
}

TEST(ReadWebhooksTest, FillsInWhatIsLeftOutAndKeepsTheOrder) {
  ObjectTable objects;
  objects.Put(kMutating, R"({"metadata":{"name":"b"},"webhooks":[{"name":"b.example.com",
      "clientConfig":{"url":"https://h/b","caBundle":"Y2E="},"sideEffects":"None"}]})");
  objects.Put(kMutating, R"({"metadata":{"name":"a"},"webhooks":[
      {"name":"a1.example.com","clientConfig":{"service":{"name":"s","namespace":"n","port":8443,
       "path":"/p"}},"sideEffects":"Some","timeoutSeconds":3,"failurePolicy":"Ignore",
       "rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
                 "resources":["pods"],"scope":"Namespaced"}]},
      {"name":"a2.example.com","clientConfig":{"service":{"name":"s","namespace":"n"}},
       "sideEffects":"NoneOnDryRun","matchConditions":[{"name":"m","expression":"true"}]},
      {"name":"a3.example.com","reinvocationPolicy":"IfNeeded"}]})");
  const std::vector<Webhook> hooks = ReadWebhooks(objects, WebhookKind::kMutating);
  ASSERT_EQ(hooks.size(), 4u);
  EXPECT_EQ(hooks[0].name, "a1.example.com");
  EXPECT_EQ(hooks[0].url, "https://s.n.svc:8443/p");
  EXPECT_FALSE(hooks[0].dry_run);
  EXPECT_TRUE(hooks[0].ignore_failure);
  EXPECT_EQ(hooks[0].timeout, absl::Seconds(3));
  ASSERT_EQ(hooks[0].rules.size(), 1u);
  EXPECT_EQ(hooks[0].rules[0].scope, "Namespaced");
  EXPECT_EQ(hooks[1].url, "https://s.n.svc:443");
  EXPECT_TRUE(hooks[1].dry_run);
  EXPECT_FALSE(hooks[1].ignore_failure);
  EXPECT_EQ(hooks[1].unsupported, "matchConditions");
  EXPECT_EQ(hooks[2].unsupported, "the reinvocationPolicy IfNeeded");
  EXPECT_EQ(hooks[3].configuration, "b");
  EXPECT_EQ(hooks[3].url, "https://h/b");
  EXPECT_EQ(hooks[3].ca_pem, "ca");
  EXPECT_EQ(hooks[3].timeout, absl::Seconds(10));
  EXPECT_TRUE(ReadWebhooks(objects, WebhookKind::kValidating).empty());
}

class IsCalledTest : public ::testing::Test {
 protected:
  IsCalledTest() {
    objects_.Put(kNamespaces, R"({"metadata":{"name":"shop","labels":{"env":"prod"}}})");
    hook_.rules = {{.operations = {"*"}, .groups = {"*"}, .versions = {"*"}, .resources = {"*"}}};
  }
  absl::StatusOr<bool> Called(const WriteAttributes& write) {
    return IsCalled(hook_, write, write.object, objects_);
  }
  ObjectTable objects_;
  Webhook hook_;
};

TEST_F(IsCalledTest, NamespacesAreSelectedByTheirLabels) {
  hook_.namespace_selector = LabelSelector::Parse("env=prod").value();
  EXPECT_TRUE(*Called(Write("CREATE", "", "v1", "pods", "shop")));
  objects_.Put(kNamespaces, R"({"metadata":{"name":"shop"}})");
  EXPECT_FALSE(*Called(Write("CREATE", "", "v1", "pods", "shop")));
  EXPECT_TRUE(*Called(Write("CREATE", "", "v1", "nodes", "")));
  const auto lost = Called(Write("CREATE", "", "v1", "pods", "lost"));
  EXPECT_EQ(ApiStatus(lost.status())->message(), "namespaces \"lost\" not found");
  hook_.rules.clear();
  EXPECT_FALSE(*Called(Write("CREATE", "", "v1", "pods", "lost")));
}

TEST_F(IsCalledTest, ANamespaceThatIsWrittenIsSelectedByItsNewLabels) {
  hook_.namespace_selector = LabelSelector::Parse("env=prod").value();
  WriteAttributes write = Write("UPDATE", "", "v1", "namespaces", "");
  write.name = "shop";
  write.object = ParseJson(R"({"metadata":{"labels":{"env":"test"}}})").value();
  EXPECT_FALSE(*Called(write));
  write.object = Json::nullValue;
  write.operation = "DELETE";
  EXPECT_TRUE(*Called(write));
}

TEST_F(IsCalledTest, ObjectsAreSelectedByNewOrOldLabels) {
  hook_.object_selector = LabelSelector::Parse("hook").value();
  WriteAttributes write = Write("UPDATE", "", "v1", "pods");
  write.object = write.old_object = ParseJson(R"({"metadata":{}})").value();
  EXPECT_FALSE(*Called(write));
  write.old_object = ParseJson(R"({"metadata":{"labels":{"hook":""}}})").value();
  EXPECT_TRUE(*Called(write));
  std::swap(write.object, write.old_object);
  EXPECT_TRUE(*Called(write));
}

TEST_F(IsCalledTest, ConfigurationsAreNotSentAnywhere) {
  EXPECT_FALSE(*Called(Write("CREATE", kMutating.group, "v1", kMutating.resource, "")));
}

TEST_F(IsCalledTest, WhatTheDoubleDoesNotDoIsRefusedOnceItMatters) {
  hook_.unsupported = "matchConditions";
  EXPECT_EQ(HttpCode(Called(Write("CREATE", "", "v1", "pods")).status()), 501);
  hook_.rules[0].resources = {"secrets"};
  EXPECT_FALSE(*Called(Write("CREATE", "", "v1", "pods")));
}

}  // namespace
}  // namespace mandate::apiserver
