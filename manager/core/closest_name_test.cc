#include "manager/core/closest_name.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(EditDistanceTest, Table) {
  const struct {
    const char* a;
    const char* b;
    size_t distance;
  } rows[] = {
      {"rbac", "rbac", 0},  {"rbac", "rbca", 1},
      {"rbac", "rbaac", 1}, {"rbac", "bac", 1},
      {"rbac", "rbax", 1},  {"rbac", "xbac", 1},
      {"rbac", "brac", 1},  {"", "r", 1},
      {"rbac", "ac", 2},    {"rbac", "xbax", 2},
      {"rbac", "brax", 2},  {"rbac", "cabr", 3},
      {"", "", 0},          {"", "rbac", 4},
      {"rbac", "brca", 2},  {"kubebuilder:ac", "kubebuilder:rbac", 2},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(EditDistance(row.a, row.b), row.distance) << row.a << " " << row.b;
    EXPECT_EQ(EditDistance(row.b, row.a), row.distance) << row.b << " " << row.a;
  }
}

TEST(ClosestNameTest, Table) {
  const std::vector<std::string> known = {"chart", "crd", "check", "controllers"};
  const struct {
    const char* name;
    std::optional<std::string> near;
  } rows[] = {
      {"chrat", "chart"},
      {"crt", "crd"},
      {"cd", "crd"},
      {"chek", "check"},
      {"c", std::nullopt},
      {"", std::nullopt},
      {"contrlers", "controllers"},
      {"ctrl", std::nullopt},
      {"charter", "chart"},
      {"namespace", std::nullopt},
      {"chark", "chart"},
  };
  for (const auto& row : rows) EXPECT_EQ(ClosestName(row.name, known), row.near) << row.name;
  EXPECT_EQ(ClosestName("a", {}), std::nullopt);
  EXPECT_EQ(ClosestName("c", {"a", "b"}), std::nullopt) << "they have nothing in common";
  EXPECT_EQ(ClosestName("aa", {"a", "b"}), "a");
}

TEST(DidYouMeanTest, IsTheEndOfAMessage) {
  EXPECT_EQ(DidYouMean("--namspace", {"--namespace"}), "; did you mean --namespace?");
  EXPECT_EQ(DidYouMean("--x", {"--namespace"}), "");
}

}  // namespace
}  // namespace mandate
