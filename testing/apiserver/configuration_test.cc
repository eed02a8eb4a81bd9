#include "testing/apiserver/configuration.h"

#include "gtest/gtest.h"
#include "manager/object/json.h"
#include "testing/apiserver/schema.h"

namespace mandate::apiserver {
namespace {

Json::Value Json(std::string_view text) { return ParseJson(text).value(); }

ResourceType Widget() {
  ResourceType type;
  type.name = {"example.com", "widgets"};
  type.version = "v1";
  type.kind = "Widget";
  type.schema = std::make_shared<Schema>(Json(R"({"type":"object","properties":{
    "spec":{"type":"object","properties":{
      "size":{"type":"integer"},
      "tags":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
      "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
               "items":{"type":"object","properties":{"name":{"type":"string"}}}},
      "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}})"));
  return type;
}

TEST(ConfigurationTest, RejectsObjectsThatDoNotFitTheSchema) {
  const struct {
    const char* object;
    const char* problem;  // "": none
  } kCases[] = {
      {R"({"spec":{"size":1.5,"tags":["x","y"],"parts":[{"name":"p"},{"name":"q"}],"free":{"a":1}}})",
       ""},
      {R"({"spec":null,"metadata":{"creationTimestamp":"x"}})", ""},
      {R"({"spec":{"size":"1"}})", ".spec.size: expected integer, got string"},
      {R"({"spec":["x"]})", ".spec: expected object, got array"},
      {R"({"spec":{"tags":["x",1]}})", ".spec.tags[1]: expected string, got integer"},
      {R"({"spec":{"tags":["x","x"]}})", ".spec.tags: duplicate entries for key \"x\""},
      {R"({"spec":{"parts":[{"name":"p"},{"name":"p"}]}})",
       R"(.spec.parts: duplicate entries for key {"name":"p"})"},
      {R"({"metadata":{"finalizers":["a/b","a/b"]}})",
       R"(.metadata.finalizers: duplicate entries for key "a/b")"},
      {R"({"spec":{"tags":["x",null]}})",
       ".spec.tags: element 1: associative list without keys has an element that's an explicit "
       "null"},
      {R"({"spec":{"parts":[{"name":"p"},null]}})",
       ".spec.parts: element 1: associative list with keys may not have a null element"},
      {R"({"spec":{"parts":[1]}})",
       ".spec.parts: element 0: associative list with keys may not have non-map elements"},
      {R"({"spec":{"x":1}})", ".spec.x: field not declared in schema"},
  };
  for (const auto& c : kCases) {
    Json::Value config = Json(c.object);
    config["apiVersion"] = "example.com/v1";
    config["kind"] = "Widget";
    config["metadata"]["name"] = "a";
    const std::string problem(CheckConfiguration(config, Widget()).message());
    constexpr char kHead[] =
        "failed to create typed patch object (/a; example.com/v1, Kind=Widget): ";
    EXPECT_EQ(problem, c.problem[0] == '\0' ? "" : std::string(kHead) + c.problem) << c.object;
  }
}

}  // namespace
}  // namespace mandate::apiserver
