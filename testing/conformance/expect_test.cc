#include "testing/conformance/expect.h"

#include <gtest/gtest.h>

#include "manager/object/json.h"
#include "testing/conformance/json_yaml.h"
#include "testing/conformance/row_parser.h"

namespace mandate::conformance {
namespace {

Expectation Parse(const std::string& members) {
  const auto rows = ParseRows("rows:\n- name: a\n  steps:\n  - GET /:\n" + members, "f.yaml");
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows->front().steps.front().expect;
}

Response Json(int code, const std::string& body) {
  return {.code = code, .headers = {{"content-type", "application/json"}}, .body = body};
}

constexpr char kNotFound[] =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":404,)"
    R"("message":"pods \"a\" not found","reason":"NotFound","details":{"name":"a","kind":"pods"}})";

TEST(ExpectTest, ChecksResponses) {
  const struct {
    const char* members;
    Response response;
    const char* error;  // the error's start; empty: no error
  } cases[] = {
      {"    is: 200", Json(200, "{}"), ""},
      {"    is: 200", Json(201, "{}"), "code: expected 200, got 201: {}"},
      {"    body: {}", Json(204, "{}"), ""},
      {"    body: {}", Json(404, "{}"), "code: expected 2xx, got 404"},
      {"    is: 404 NotFound pods \"a\" not found", Json(404, kNotFound), ""},
      {"    is: 404 NotFound", Json(404, kNotFound), ""},
      {"    is: 404 Gone pods \"a\" not found", Json(404, kNotFound),
       "Status.reason: expected \"Gone\""},
      {"    is: 404 NotFound pods \"b\" not found", Json(404, kNotFound),
       "Status.message: expected \"pods \"b\" not found\""},
      {"    is: 404 -", Json(404, kNotFound), "Status.reason: expected nothing"},
      {"    is: 404\n    details: {name: a, kind: pods}", Json(404, kNotFound), ""},
      {"    is: 404\n    details: {name: a}", Json(404, kNotFound),
       "details.kind: expected nothing, got \"pods\""},
      {"    body: {a: 1}", Json(200, R"({"a":2})"), "body.a: expected 1, got 2"},
      {"    names: [a, b]", Json(200, R"({"items":[{"metadata":{"name":"a"}}]})"),
       "names: expected 2 elements, got 1"},
      {"    raw: <~ o.>", Json(200, "ok"), ""},
      {"    raw: o", Json(200, "ok"), "raw: expected \"o\", got \"ok\""},
      {"    headers: {Content-Type: application/json}", Json(200, ""), ""},
      {"    headers: {X: <absent>}", Json(200, ""), ""},
      {"    headers: {X: <any>}", Json(200, ""), "x: expected \"<any>\", got nothing"},
  };
  for (const auto& c : cases) {
    Variables variables;
    const absl::Status status = CheckResponse(Parse(c.members), c.response, variables);
    EXPECT_TRUE(c.error[0] == '\0' ? status.ok()
                                   : std::string(status.message()).starts_with(c.error))
        << c.members << ": " << status;
  }
}

TEST(ExpectTest, CapturesOnlyWhenAllMatches) {
  Variables variables;
  const Expectation expect = Parse("    body: {a: <rv $a>, b: 1}");
  EXPECT_FALSE(CheckResponse(expect, Json(200, R"({"a":"7","b":2})"), variables).ok());
  EXPECT_TRUE(variables.empty());
  EXPECT_TRUE(CheckResponse(expect, Json(200, R"({"a":"7","b":1})"), variables).ok());
  EXPECT_EQ(variables.at("a"), "7");
}

TEST(ExpectTest, ChecksEvents) {
  const Json::Value event =
      *ParseJson(R"({"type":"ADDED","object":{"metadata":{"name":"a"},"x":1}})");
  Variables variables;
  for (const char* yes : {"ADDED", "ADDED a", "{ADDED: {x: 1}}"}) {
    EXPECT_TRUE(CheckEvent(ToJson(YAML::Load(yes)), event, variables).ok()) << yes;
  }
  for (const char* no : {"DELETED", "ADDED b", "{ADDED: {x: 2}}", "[ADDED]", "1"}) {
    EXPECT_FALSE(CheckEvent(ToJson(YAML::Load(no)), event, variables).ok()) << no;
  }
}

TEST(ExpectTest, PassesOverBookmarksThatNoRowExpects) {
  const Json::Value added = *ParseJson(R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})");
  const Json::Value periodic =
      *ParseJson(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}})");
  const Json::Value initial = *ParseJson(R"({"type":"BOOKMARK","object":{"metadata":{
      "annotations":{"k8s.io/initial-events-end":"true"}}}})");
  for (const char* expected : {"ADDED a", "{DELETED: {x: 1}}", "end"}) {
    EXPECT_TRUE(IsPassedOver(periodic, ToJson(YAML::Load(expected)))) << expected;
    EXPECT_FALSE(IsPassedOver(initial, ToJson(YAML::Load(expected)))) << expected;
    EXPECT_FALSE(IsPassedOver(added, ToJson(YAML::Load(expected)))) << expected;
  }
  for (const char* expected : {"BOOKMARK", "{BOOKMARK: {x: 1}}"}) {
    EXPECT_FALSE(IsPassedOver(periodic, ToJson(YAML::Load(expected)))) << expected;
  }
}

}  // namespace
}  // namespace mandate::conformance
