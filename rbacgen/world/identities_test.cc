#include "rbacgen/world/identities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<NamedIdentity> Parse(const std::vector<std::string>& texts) {
  const auto identities = ParseIdentities(texts);
  EXPECT_TRUE(identities.ok()) << identities.status();
  return identities.value_or(std::vector<NamedIdentity>());
}

TEST(Identities, AreParsed) {
  const auto identities = Parse({"web=shop/web-sa", "root=kubernetes-admin"});
  ASSERT_EQ(identities.size(), 2u);
  EXPECT_EQ(identities[0].component, "web");
  EXPECT_EQ(identities[0].user.name, "system:serviceaccount:shop:web-sa");
  EXPECT_EQ(identities[1].user.name, "kubernetes-admin");
  for (const char* bad : {"web", "=shop/web", "", "web=Shop/web", "web=shop/"}) {
    EXPECT_FALSE(ParseIdentities({bad}).ok()) << bad;
  }
}

TEST(Identities, MustNameComponentsOfTheTree) {
  const std::map<std::string, int> components = {{"db", 1}, {"web", 1}};
  EXPECT_TRUE(CheckComponents(Parse({"web=n/x", "base=n/y"}), components).ok());
  EXPECT_EQ(CheckComponents(Parse({"wbe=n/x"}), components).message(),
            "--identity=wbe=n/x: the sources have no component wbe; they have db, web");
  EXPECT_TRUE(CheckComponents(Parse({"wbe=n/x"}), std::map<std::string, int>()).ok());
}

TEST(Identities, ReplaceTheComponentsOfTheWorld) {
  World world;
  world.accounts = {{"shop", "web"}, {"shop", "db"}};
  world.components = {{"base", {"shop", "manager"}}, {"old", {"shop", "db"}}};
  EXPECT_THAT(NameIdentities({}, &world), IsEmpty());
  EXPECT_EQ(world.components.size(), 2u) << "nothing was named";
  EXPECT_THAT(NameIdentities(Parse({"a=shop/web", "b=shop/none"}), &world),
              ElementsAre("no ServiceAccount shop/none (--identity=b=shop/none)"));
  EXPECT_THAT(world.components, ElementsAre(Pair("a", rbac::ServiceAccountName{"shop", "web"})));
}

TEST(Identities, KeepTheAccountsOfATree) {
  World tree = TreeOf("// +kubebuilder:rbac:groups=core,resources=pods,verbs=get\n");
  const auto account = tree.components.at("manager");
  EXPECT_THAT(NameIdentities(Parse({"manager=shop/web"}), &tree), IsEmpty());
  EXPECT_THAT(tree.components, ElementsAre(Pair("manager", account)));
}

}  // namespace
}  // namespace mandate::rbacgen
