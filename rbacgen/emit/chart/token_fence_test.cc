#include "rbacgen/emit/chart/token_fence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mandate::rbacgen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ChartSettings Settings() {
  ChartSettings settings;
  settings.ns = "sys";
  settings.api_audiences = {"a", "b"};
  return settings;
}

// The plain manifests; "" if there are none.
std::string Fence(const ChartSettings& settings) {
  const ChartNames names = {.base = "mm", .part_of = "project"};
  const ChartSwitches switches(settings);
  std::vector<Yaml> objects;
  ObjectMaker maker(names, switches, "base", "mm", &objects);
  AddTokenFence(maker);
  std::vector<Yaml> plain;
  for (const Yaml& object : objects) {
    if (object.condition().plain) plain.push_back(object);
  }
  return plain.empty() ? "" : WriteDocuments(plain, Yaml::Flavor::kPlain);
}

TEST(TokenFenceTest, AllowsOnlyTokenRequestsOfTheManager) {
  EXPECT_THAT(Fence(Settings()),
              AllOf(HasSubstr("name: mm-tokens\n"), HasSubstr("policyName: mm-tokens\n"),
                    HasSubstr("(.+-)?(mm)(-.+)?$\")"), HasSubstr("serviceaccounts/token"),
                    HasSubstr("expirationSeconds <= 3600"), HasSubstr("[\"a\",\"b\"]"),
                    HasSubstr("orValue(\"\") == \"\""), Not(HasSubstr("request.name"))));
}

TEST(TokenFenceTest, WithTheKillSwitchTokensMustBeBoundToTheSecret) {
  ChartSettings settings = Settings();
  settings.kill_switch = true;
  EXPECT_THAT(Fence(settings),
              AllOf(HasSubstr("== request.name"), Not(HasSubstr("orValue(\"\") == \"\""))));
}

TEST(TokenFenceTest, IsAbsentWithoutTokensOrFences) {
  for (const std::string mode : {"impersonate", "single"}) {
    ChartSettings settings = Settings();
    settings.identity_mode = mode;
    EXPECT_EQ(Fence(settings), "") << mode;
  }
  ChartSettings settings = Settings();
  settings.fences = false;
  EXPECT_EQ(Fence(settings), "");
}

}  // namespace
}  // namespace mandate::rbacgen
