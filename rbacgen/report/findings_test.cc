#include "rbacgen/report/findings.h"

#include <gtest/gtest.h>
#include <jsoncpp/json/json.h>

#include <sstream>

namespace mandate::rbacgen {
namespace {

Json::Value Parsed(const std::string& text) {
  Json::Value value;
  std::istringstream(text) >> value;
  return value;
}

std::vector<SourceFinding> Some() {
  Diagnostics diagnostics;
  diagnostics.Error({"a b/ü.cc", 3}, "wrong");
  diagnostics.Warning({"c.cc"}, "odd\x1b");
  std::vector<SourceFinding> findings;
  AddFindings(diagnostics, "rbac-rule", &findings);
  findings.push_back({RuleOf("drift"), Severity::kError, {"out.yaml", 2}, "differs", "-a\n+b\n"});
  return findings;
}

TEST(FindingsTest, WritesText) {
  EXPECT_EQ(FindingsText(Some()),
            "a b/ü.cc:3: error: wrong [rbac-rule]\n"
            "c.cc: warning: odd\\x1b [rbac-rule]\n"
            "out.yaml:2: error: differs [drift]\n"
            "  -a\n  +b\n");
  EXPECT_EQ(FindingsText({}), "");
}

TEST(FindingsTest, WritesJson) {
  const Json::Value json = Parsed(FindingsJson(Some()));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["errors"], 2);
  EXPECT_EQ(json["warnings"], 1);
  EXPECT_EQ(json["findings"][0]["rule"], "rbac-rule");
  EXPECT_EQ(json["findings"][0]["level"], "error");
  EXPECT_EQ(json["findings"][0]["line"], 3);
  EXPECT_FALSE(json["findings"][1].isMember("line"));
  EXPECT_EQ(json["findings"][2]["diff"], "-a\n+b\n");
  EXPECT_TRUE(Parsed(FindingsJson({}))["findings"].isArray());
}

TEST(FindingsTest, SarifHasTheFieldsOfCodeScanning) {
  const Json::Value log = Parsed(FindingsSarif(Some(), "1.2.3"));
  EXPECT_EQ(log["version"], "2.1.0");
  const Json::Value& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "rbacgen");
  ASSERT_EQ(run["results"].size(), 3);
  for (const Json::Value& result : run["results"]) {
    const Json::Value& rule = run["tool"]["driver"]["rules"][result["ruleIndex"].asInt()];
    EXPECT_EQ(rule["id"], result["ruleId"]);
    const Json::Value& place = result["locations"][0]["physicalLocation"];
    EXPECT_GE(place["region"]["startLine"].asInt(), 1);
    EXPECT_EQ(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
  }
  EXPECT_EQ(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "a%20b/%C3%BC.cc");
  EXPECT_EQ(run["results"][1]["level"], "warning");
  EXPECT_TRUE(Parsed(FindingsSarif({}, ""))["runs"][0]["results"].isArray());
}

}  // namespace
}  // namespace mandate::rbacgen
