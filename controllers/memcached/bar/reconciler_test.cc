// The document's Bar examples, on the double of an API server: Secrets of a namespace, one Secret,
// and those of the cluster.
#include "controllers/memcached/bar/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "controllers/memcached/testing_operator.h"
#include "manager/core/strings.h"

namespace mandate::bar {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kBars[] = "/apis/operators.io.operator-framework/v1/namespaces/home/bars";
constexpr char kRoles[] = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
constexpr char kNeeds[] = "bar-needs";
constexpr char kInNamespace[] = R"("secretsInNamespace":{"namespace":"namespacebar"})";
constexpr char kOne[] = R"("secret":{"namespace":"namespacebar","name":"secretbar"})";
constexpr char kOneElsewhere[] = R"("secret":{"namespace":"elsewhere","name":"secretbar"})";

class BarTest : public testing::Test {
 protected:
  BarTest()
      : cluster_({kBar,
                  MakeController,
                  "operators.io.operator-framework",
                  "controllers/memcached/bar/v1/crd.yaml",
                  {"home", "namespacebar", "elsewhere"}}) {
    EXPECT_EQ(cluster_.Send("POST", kRoles, cluster_.NeedsRole(kNeeds)), 201);
    for (const char* ns : {"namespacebar", "elsewhere"}) {
      for (const char* name : {"secretbar", "more"}) CreateSecret(ns, name);
    }
    cluster_.Start();
    cluster_.Settle();
  }

  void CreateSecret(const std::string& ns, const std::string& name) {
    EXPECT_EQ(cluster_.Send("POST", StrCat("/api/v1/namespaces/", ns, "/secrets"),
                            StrCat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")",
                                   name, R"("}})")),
              201);
  }
  void Post(const std::string& name, const std::string& spec) {
    EXPECT_EQ(cluster_.Send("POST", kBars,
                            StrCat(R"({"apiVersion":"operators.io.operator-framework/v1",)",
                                   R"("kind":"Bar","metadata":{"name":")", name, R"("},"spec":{)",
                                   spec, "}}")),
              201);
  }
  void Create(const std::string& name, const std::string& spec) {
    Post(name, spec);
    cluster_.Settle();
  }
  void Delete(const std::string& name) {
    EXPECT_EQ(cluster_.Send("DELETE", StrCat(kBars, "/", name), ""), 200);
    cluster_.Settle();
  }
  // "secrets in namespace foo: Synced 2".
  std::vector<std::string> Reads(const std::string& name) {
    const Json::Value bar = cluster_.Get("operators.io.operator-framework", "bars", "home", name);
    std::vector<std::string> reads;
    for (const Json::Value& read : bar["status"]["reads"]) {
      reads.push_back(StrCat(read["scope"].asString(), ": ", read["state"].asString(),
                             read.isMember("secrets") ? " " : "",
                             read.isMember("secrets") ? read["secrets"].asString() : ""));
    }
    return reads;
  }

  OperatorCluster cluster_;
};

TEST_F(BarTest, TheSecretsOfANamespaceNeedOneWatch) {
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars"));
  cluster_.Bind("namespacebar", kNeeds);
  Create("sample", kInNamespace);
  EXPECT_THAT(Reads("sample"), ElementsAre("secrets in namespace namespacebar: Synced 2"));
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars", "secrets in namespacebar"));
  CreateSecret("namespacebar", "third");
  cluster_.Settle();
  EXPECT_THAT(Reads("sample"), ElementsAre("secrets in namespace namespacebar: Synced 3"));
  Delete("sample");
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars"));
}

TEST_F(BarTest, TheWatchStaysAsLongAsABarNeedsIt) {
  cluster_.Bind("namespacebar", kNeeds);
  Create("one", kInNamespace);
  Create("two", kInNamespace);
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars", "secrets in namespacebar"));
  Delete("one");
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars", "secrets in namespacebar"));
  Delete("two");
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars"));
}

// The permission is that to the one name.
TEST_F(BarTest, OneSecretNeedsThePermissionToItsNameAlone) {
  EXPECT_EQ(cluster_.Send("POST", kRoles,
                          R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
                          R"("metadata":{"name":"one-name"},"rules":[{"apiGroups":[""],)"
                          R"("resources":["secrets"],"resourceNames":["secretbar"],)"
                          R"("verbs":["get","list","watch"]}]})"),
            201);
  cluster_.Bind("namespacebar", "one-name");
  Create("sample", kOne);
  EXPECT_EQ(Reads("sample").size(), 1u);
  EXPECT_TRUE(Reads("sample")[0].ends_with(": Synced 1")) << Reads("sample")[0];
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars", "secrets namespacebar/secretbar"));
  EXPECT_EQ(cluster_.Send("DELETE", "/api/v1/namespaces/namespacebar/secrets/secretbar", ""), 200);
  cluster_.Settle();
  EXPECT_TRUE(Reads("sample")[0].ends_with(": Synced 0")) << Reads("sample")[0];
}

TEST_F(BarTest, AKindIsReadInThreeScopesAtOnce) {
  cluster_.Bind("", kNeeds);
  Create("all", R"("secretsInCluster":true)");
  Create("namespace-and-one", StrCat(kInNamespace, ",", kOneElsewhere));
  EXPECT_THAT(Reads("all"), ElementsAre("secrets: Synced 4"));
  ASSERT_EQ(Reads("namespace-and-one").size(), 2u);
  EXPECT_EQ(Reads("namespace-and-one")[0], "secrets in namespace namespacebar: Synced 2");
  EXPECT_TRUE(Reads("namespace-and-one")[1].ends_with(": Synced 1"));
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars", "secrets"))
      << "the wider watch delivers the narrower scopes";
  Delete("all");
  EXPECT_THAT(Reads("namespace-and-one").size(), 2u);
  EXPECT_THAT(cluster_.Streams(),
              ElementsAre("bars", "secrets elsewhere/secretbar", "secrets in namespacebar"));
}

TEST_F(BarTest, ADeniedScopeDoesNotHoldUpTheOthers) {
  cluster_.Bind("namespacebar", kNeeds);
  Create("sample", StrCat(kInNamespace, ",", kOneElsewhere, R"(,"secretsInCluster":true)"));
  ASSERT_EQ(Reads("sample").size(), 3u);
  EXPECT_EQ(Reads("sample")[0], "secrets in namespace namespacebar: Synced 2");
  EXPECT_TRUE(Reads("sample")[1].ends_with(": Forbidden")) << Reads("sample")[1];
  EXPECT_EQ(Reads("sample")[2], "secrets: Forbidden");
  cluster_.Bind("elsewhere", kNeeds);
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(Reads("sample")[1].ends_with(": Synced 1")) << Reads("sample")[1];
}

// The name may belong to another Bar when the status is written.
TEST_F(BarTest, TheStatusIsThatOfTheObjectThatWasRead) {
  int writes = 0;
  cluster_.intercept = [&](const HttpRequest&) -> std::optional<HttpResponse> {
    ++writes;
    if (writes == 1) {
      EXPECT_EQ(cluster_.Send("DELETE", StrCat(kBars, "/b"), ""), 200);
      Post("b", kOneElsewhere);
    } else if (writes == 2) {
      EXPECT_THAT(Reads("b"), IsEmpty());
    }
    return std::nullopt;
  };
  Create("b", kOne);
  EXPECT_GE(writes, 2);
}

TEST_F(BarTest, AnEditReplacesTheDemands) {
  cluster_.Bind("", kNeeds);
  Create("sample", kInNamespace);
  EXPECT_EQ(cluster_.Send("PATCH", StrCat(kBars, "/sample"),
                          R"({"spec":{"secretsInNamespace":{"namespace":"elsewhere"}}})"),
            200);
  cluster_.Settle();
  EXPECT_THAT(Reads("sample"), ElementsAre("secrets in namespace elsewhere: Synced 2"));
  EXPECT_THAT(cluster_.Streams(), ElementsAre("bars", "secrets in elsewhere"));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Hours(1));
  EXPECT_THAT(cluster_.TakeWrites(), IsEmpty());
}

}  // namespace
}  // namespace mandate::bar
