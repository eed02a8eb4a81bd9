#include "rbacgen/analysis/radius_report.h"

#include <string>

#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

BlastRadius Reached(int accounts) {
  BlastRadius radius;
  radius.steps.push_back({"a", "", ""});
  for (int i = 0; i < accounts; ++i) {
    radius.steps.push_back({StrCat("kube-system/c", i), "a", "create pods"});
  }
  radius.steps.push_back({"shop/web", "a", "create pods"});
  return radius;
}

TEST(RadiusReport, NamesAFewAndCountsMany) {
  const std::string few = RadiusText(Reached(3)), many = RadiusText(Reached(4));
  for (const char* name : {"kube-system/c0", "kube-system/c2", "shop/web"}) {
    EXPECT_NE(few.find(name), few.npos) << few;
  }
  EXPECT_NE(many.find("4 ServiceAccounts of kube-system"), many.npos) << many;
  EXPECT_EQ(many.find("kube-system/c0"), many.npos) << many;
  EXPECT_NE(many.find("shop/web"), many.npos) << many;
  EXPECT_EQ(RadiusJson(Reached(4))["steps"].size(), 6u) << "each by name";
}

TEST(RadiusReport, CountsApartWhatIsReachedInAnotherWay) {
  BlastRadius radius = Reached(6);
  for (int i = 4; i <= 6; ++i) radius.steps[i].from = "b";
  const std::string text = RadiusText(radius);
  EXPECT_EQ(text.find("ServiceAccounts of"), text.npos) << text;
  EXPECT_NE(text.find("kube-system/c5"), text.npos) << text;
}

TEST(RadiusDiff, IsWhatOneHasAndTheOtherLacks) {
  BlastRadius before = Reached(0), now = Reached(5);
  now.everything = true;
  before.rights["shop"] = {{{"list"}, {""}, {"secrets"}, {}, {}}};
  now.rights[""] = {{{"get"}, {""}, {"pods"}, {}, {}}};
  const RadiusDiff diff = DiffRadii(before, now);
  EXPECT_TRUE(diff.grew());
  EXPECT_EQ(RadiusDiffText("  ", diff),
            "  + reaches 5 ServiceAccounts of kube-system, as a may create pods\n"
            "  + may get pods\n");
  const Json::Value json = RadiusDiffJson(diff);
  EXPECT_EQ(json["added"].size(), 5u);
  EXPECT_TRUE(json["everything"].asBool());
  EXPECT_FALSE(json["everythingBefore"].asBool());

  EXPECT_TRUE(diff.lost.empty()) << "it may do everything";
  now.everything = false;
  const RadiusDiff back = DiffRadii(now, before);
  EXPECT_TRUE(back.grew()) << "list secrets";
  EXPECT_EQ(back.removed.size(), 5u);
  EXPECT_EQ(back.lost.size(), 1u);
  before.rights.clear();
  EXPECT_FALSE(DiffRadii(now, before).grew());
  EXPECT_FALSE(DiffRadii(now, before).none());
  EXPECT_TRUE(DiffRadii(now, now).none());
  EXPECT_EQ(RadiusDiffText("", DiffRadii(now, now)), "");
}

}  // namespace
}  // namespace mandate::rbacgen
