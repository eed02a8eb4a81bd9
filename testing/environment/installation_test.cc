#include "testing/environment/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/environment/administrator_fixture.h"
#include "testing/environment/object_wait.h"

namespace mandate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr KindInfo kNamespace = BuiltIn("", "Namespace", "namespaces", Scope::kCluster);
constexpr KindInfo kDefinition = BuiltIn("apiextensions.k8s.io", "CustomResourceDefinition",
                                         "customresourcedefinitions", Scope::kCluster);
constexpr KindInfo kRole = BuiltIn("rbac.authorization.k8s.io", "Role", "roles");

constexpr std::string_view kRead[] = {"get"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr std::string_view kPods[] = {"pods"};
constexpr rbac::MandateRule kRules[] = {{.rule = {kRead, kCore, kSecrets}, .ns = "shop"},
                                        {.rule = {kRead, kCore, kPods}, .external = true}};
constexpr rbac::Mandate kReader = {"reader", kRules};
const rbac::Permission kGetSecrets = {"reader", "get", "", "secrets"};

class InstallationTest : public AdministratorTest {
 protected:
  Installation::Options Options() {
    return {
        .administrator = *administrator_, .components = {&kReader}, .patience = absl::Seconds(10)};
  }
  std::unique_ptr<Installation> Make() { return Must(Installation::Create(Options())); }
  std::set<std::string> Names(const KindInfo& kind, const std::string& ns = "") {
    std::set<std::string> names;
    const ObjectKey all = {ns, ""};
    const absl::Status read = AwaitObjects(
        *administrator_, {kind, all, absl::Seconds(10), "are unknown"}, [&](const auto& objects) {
          for (const auto& [key, object] : objects) names.insert(key.name);
          return true;
        });
    EXPECT_EQ(read, absl::OkStatus());
    return names;
  }
};

// A namespace that another installation has made stays, without the roles of this one.
TEST_F(InstallationTest, RemovesWhatItHasCreated) {
  const auto first = Make(), second = Make();
  EXPECT_EQ(Names(kRole, "shop").size(), 2u);
  ASSERT_EQ(second->Remove(), absl::OkStatus());
  EXPECT_THAT(Names(kRole, "shop"), ElementsAre(StrCat(AccountOf(kReader), ".", first->ns())));
  EXPECT_THAT(Names(kNamespace), Contains("shop"));
  EXPECT_THAT(Names(kNamespace), Contains(first->ns()));
  ASSERT_EQ(first->Remove(), absl::OkStatus());
  EXPECT_THAT(Names(kNamespace), Not(Contains("shop")));
  const auto third = Make();
  EXPECT_EQ(Names(kRole, "shop").size(), 1u) << "it can be made again";
  EXPECT_EQ(third->Remove(), absl::OkStatus());
}

Json::Value WidgetsWith(const std::string& property) {
  Json::Value definition;
  definition["apiVersion"] = "apiextensions.k8s.io/v1";
  definition["kind"] = "CustomResourceDefinition";
  definition["metadata"]["name"] = "widgets.example.com";
  Json::Value& spec = definition["spec"];
  spec["group"] = "example.com";
  spec["scope"] = "Namespaced";
  spec["names"]["kind"] = "Widget";
  spec["names"]["plural"] = "widgets";
  Json::Value version;
  version["name"] = "v1";
  version["served"] = version["storage"] = true;
  Json::Value& schema = version["schema"]["openAPIV3Schema"];
  schema["type"] = "object";
  schema["properties"][property]["type"] = "string";
  spec["versions"].append(version);
  return definition;
}

// A server that is not the test's own may have the definition from before. It is updated, and
// stays.
TEST_F(InstallationTest, UpdatesADefinitionThatExists) {
  RestRequest create = {.method = "POST",
                        .target = ResourceTarget(kDefinition, {}),
                        .body = WriteJson(WidgetsWith("before"))};
  const CallContext context = administrator_->Within(absl::Seconds(10));
  ASSERT_EQ(administrator_->client().Do(context, std::move(create)).status(), absl::OkStatus());
  Installation::Options options = Options();
  options.definitions = {WidgetsWith("after")};
  const auto made = Must(Installation::Create(std::move(options)));
  const auto has = [&](const std::string& property) {
    RestRequest read = {.method = "GET",
                        .target = ResourceTarget(kDefinition, {"", "widgets.example.com"}),
                        .body = {}};
    const auto answer = Must(administrator_->client().Do(context, std::move(read)));
    const Json::Value json = Must(ParseJson(answer.body));
    return json["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].isMember(
        property);
  };
  EXPECT_TRUE(has("after"));
  ASSERT_EQ(made->Remove(), absl::OkStatus());
  EXPECT_TRUE(has("after")) << "it stays";
}

// A definition of its own goes with the installation.
TEST_F(InstallationTest, RemovesADefinitionOfItsOwn) {
  Installation::Options options = Options();
  options.definitions = {WidgetsWith("own")};
  const auto made = Must(Installation::Create(std::move(options)));
  EXPECT_THAT(Names(kDefinition), Contains("widgets.example.com"));
  ASSERT_EQ(made->Remove(), absl::OkStatus());
  EXPECT_THAT(Names(kDefinition), Not(Contains("widgets.example.com")));
}

TEST_F(InstallationTest, PrintsANamespaceThatStays) {
  Installation::Options options = Options();
  options.patience = absl::Seconds(1);
  const auto made = Must(Installation::Create(std::move(options)));
  RestRequest keep = {.method = "PATCH",
                      .target = ResourceTarget(kNamespace, {"", "shop"}),
                      .body = R"({"metadata":{"finalizers":["example.com/keep"]}})",
                      .content_type = "application/merge-patch+json"};
  const CallContext context = administrator_->Within(absl::Seconds(10));
  ASSERT_EQ(administrator_->client().Do(context, std::move(keep)).status(), absl::OkStatus());
  EXPECT_THAT(made->Remove().message(),
              AllOf(HasSubstr("Namespace shop still exists after 1s. It is:"),
                    HasSubstr(R"("example.com/keep")")));
}

TEST_F(InstallationTest, NothingStaysAfterAnError) {
  Installation::Options options = Options();
  options.namespaces = {"Not A Name"};
  EXPECT_THAT(Installation::Create(std::move(options)).status().message(), HasSubstr("Not A Name"));
  EXPECT_THAT(Names(kNamespace), Each(Not(HasSubstr("mandate-test-"))));
}

TEST_F(InstallationTest, AGrantReturnsWhileTheComponentIsDenied) {
  const auto made = Make();
  EXPECT_THAT(made->Grant(kGetSecrets).message(),
              HasSubstr("\"reader get secrets.\" is not denied; Deny() it first"));
  ASSERT_EQ(made->Deny(kReader), absl::OkStatus());
  EXPECT_EQ(made->GrantExternal(kReader, {"shop", ""}), absl::OkStatus());
  EXPECT_EQ(made->DenyExternal(kReader, {"shop", ""}), absl::OkStatus());
  ASSERT_EQ(made->Grant(kReader), absl::OkStatus());
  EXPECT_EQ(made->GrantExternal(kReader, {"shop", ""}), absl::OkStatus());
  EXPECT_EQ(made->Remove(), absl::OkStatus());
}

}  // namespace
}  // namespace mandate
