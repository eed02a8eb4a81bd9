#include "testing/conformance/row_parser.h"

#include <gtest/gtest.h>

#include "manager/object/json.h"

namespace mandate::conformance {
namespace {

constexpr char kText[] = R"(
let: {cms: /api/v1/namespaces/$ns/configmaps}
rows:
- name: first
  needs: [crds]
  alone: true
  not-double: too much
  steps:
  - POST $cms: {metadata: {name: a}}
    as: robot
    is: 201
    body: {metadata: {uid: <uid $u>}}
  - APPLY $cms/a?fieldManager=me: {data: {k: "1"}}
    accept: protobuf
    send: {X-One: two}
    is: 409 Conflict Apply failed with 1 conflict
    audit: {verb: patch}
  - watch w: $cms?watch=1
    is: 200
  - events w: [ADDED a, end]
  - close w:
  - set: {x: y}
  - restart-etcd:
  - GET $cms/$it:
    each: [a, b]
    eventually: true
)";

TEST(RowParserTest, ReadsRows) {
  const auto rows = ParseRows(kText, "rows/crud.yaml");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1u);
  const Row& row = rows->front();
  EXPECT_EQ(row.topic, "crud");
  EXPECT_EQ(row.name, "first");
  EXPECT_TRUE(row.alone);
  EXPECT_EQ(row.not_double, "too much");
  EXPECT_EQ(row.needs, (std::set<std::string>{"audit", "crds", "restart"}));
  EXPECT_EQ(row.let.at("cms"), "/api/v1/namespaces/$ns/configmaps");
  ASSERT_EQ(row.steps.size(), 8u);

  const Step& post = row.steps[0];
  EXPECT_EQ(post.action, Action::kRequest);
  EXPECT_EQ(post.line, 9);
  EXPECT_EQ(post.method, "POST");
  EXPECT_EQ(post.target, "$cms");
  EXPECT_EQ(WriteJson(post.body), R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(post.as, "robot");
  EXPECT_EQ(post.expect.code, 201);
  EXPECT_TRUE(post.expect.reason.empty());

  const Step& apply = row.steps[1];
  EXPECT_EQ(apply.method, "PATCH");
  EXPECT_EQ(apply.headers, (std::vector<std::pair<std::string, std::string>>{
                               {"Content-Type", "application/apply-patch+yaml"},
                               {"Accept", "application/vnd.kubernetes.protobuf"},
                               {"X-One", "two"}}));
  EXPECT_EQ(apply.expect.reason, "Conflict");
  EXPECT_EQ(apply.expect.message, "Apply failed with 1 conflict");

  EXPECT_EQ(row.steps[2].action, Action::kWatch);
  EXPECT_EQ(row.steps[2].subject, "w");
  EXPECT_EQ(row.steps[2].target, "$cms?watch=1");
  EXPECT_EQ(WriteJson(row.steps[3].value), R"(["ADDED a","end"])");
  EXPECT_EQ(row.steps[4].action, Action::kClose);
  EXPECT_EQ(WriteJson(row.steps[5].value), R"({"x":"y"})");
  EXPECT_EQ(row.steps[6].action, Action::kRestart);
  EXPECT_EQ(row.steps[7].each, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(row.steps[7].eventually);
  EXPECT_FALSE(row.steps[7].has_body);
}

TEST(RowParserTest, NamesFileAndLineOfWhatIsWrong) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"rows: [", "f.yaml:1: end of sequence flow not found"},
      {"rows: []", "f.yaml:1: no rows"},
      {"what: 1", "f.yaml:1: unknown member `what`"},
      {"rows:\n- steps: [{GET /: , is: 200}]", "f.yaml:2: a row has a name"},
      {"rows:\n- name: a\n  steps: [{GET /: }]", "f.yaml:2: the row expects nothing"},
      {"rows:\n- name: a\n  steps:\n  - GET /:\n    was: 200", "f.yaml:5: unknown member `was`"},
      {"rows:\n- name: a\n  steps:\n  - GET /:\n    is: OK",
       "f.yaml:5: `is` starts with a status code"},
      {"rows:\n- name: a\n  steps:\n  - look: 1", "f.yaml:4: `look` is not a step"},
      {"rows:\n- name: a\n  steps:\n  - watch: /", "f.yaml:4: `watch` needs a name"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ParseRows(c.text, "f.yaml").status().message(), c.error);
  }
}

TEST(RowParserTest, ReadsAllRowsOfTheSuite) {
  const auto rows = LoadRows("testing/conformance/rows");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_FALSE(rows->empty());
}

}  // namespace
}  // namespace mandate::conformance
