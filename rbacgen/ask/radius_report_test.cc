#include "rbacgen/ask/radius_report.h"

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

TEST(RadiusReport, ListsThreeAccountsOfANamespaceAndCountsFour) {
  const std::string few = RadiusText(Reached(3)), many = RadiusText(Reached(4));
  for (const char* name : {"kube-system/c0", "kube-system/c2", "shop/web"}) {
    EXPECT_NE(few.find(name), few.npos) << few;
  }
  EXPECT_NE(many.find("4 ServiceAccounts of kube-system"), many.npos) << many;
  EXPECT_EQ(many.find("kube-system/c0"), many.npos) << many;
  EXPECT_NE(many.find("shop/web"), many.npos) << many;
  EXPECT_EQ(RadiusJson(Reached(4))["steps"].size(), 6u) << "each by name";
}

TEST(RadiusReport, AccountsReachedInDifferentWaysAreNotOneRow) {
  BlastRadius radius = Reached(6);
  for (int i = 4; i <= 6; ++i) radius.steps[i].from = "b";
  const std::string text = RadiusText(radius);
  EXPECT_EQ(text.find("ServiceAccounts of"), text.npos) << text;
  EXPECT_NE(text.find("kube-system/c5"), text.npos) << text;
}

TEST(RadiusReport, SortsRightsBySeverity) {
  BlastRadius radius = Reached(1);
  radius.steps[1].severity = rbac::RiskyRight::Severity::kCritical;
  radius.rights[""] = {{{"get"}, {""}, {"pods"}, {}, {}}, {{"patch"}, {""}, {"pods"}, {}, {}}};
  radius.rights["shop"] = {{{"get"}, {""}, {"secrets"}, {}, {}}};
  EXPECT_EQ(RadiusText(radius),
            "REACHED         FROM         SEVERITY  PERMISSION\n"
            "a               (the start)  -         -\n"
            "kube-system/c0  a            critical  create pods\n"
            "shop/web        a            -         create pods\n"
            "\nTogether they may\n"
            "  get secrets in shop: reads credentials (critical)\n"
            "  patch pods: runs images of its choice in any pod there (high)\n"
            "  get pods\n");
  const Json::Value json = RadiusJson(radius);
  EXPECT_FALSE(json["steps"][0].isMember("severity"));
  EXPECT_EQ(json["steps"][1]["severity"], "critical");
  EXPECT_EQ(json["rights"][0]["severity"], "critical");
  EXPECT_EQ(json["rights"][0]["consequences"][0], "reads credentials");
  EXPECT_EQ(json["rights"][1]["severity"], "high");
  EXPECT_FALSE(json["rights"][2].isMember("severity"));
  EXPECT_EQ(RadiusDiffText("", DiffRadii(Reached(0), radius)),
            "+ reaches kube-system/c0, because a may create pods (critical)\n"
            "+ may get secrets in shop: reads credentials (critical)\n"
            "+ may get and patch pods: runs images of its choice in any pod there (high)\n");
}

TEST(RadiusDiff, ListsAddedAndRemovedReachAndRights) {
  BlastRadius before = Reached(0), now = Reached(5);
  now.everything = true;
  before.rights["shop"] = {{{"list"}, {""}, {"secrets"}, {}, {}}};
  now.rights[""] = {{{"get"}, {""}, {"pods"}, {}, {}}};
  const RadiusDiff diff = DiffRadii(before, now);
  EXPECT_TRUE(diff.grew());
  EXPECT_EQ(RadiusDiffText("  ", diff),
            "  + reaches 5 ServiceAccounts of kube-system, because a may create pods\n"
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
