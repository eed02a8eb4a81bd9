#include "testing/apiserver/patch.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

std::string Merge(const char* target, const char* patch) {
  return WriteJson(ApplyMergePatch(*ParseJson(target), *ParseJson(patch)));
}

// The example table of RFC 7386, appendix A, and cases that it lacks.
TEST(MergePatchTest, Rfc7386) {
  const struct {
    const char* target;
    const char* patch;
    const char* result;
  } kCases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({"a":1})", R"({"a":{"b":null}})", R"({"a":{}})"},
      {R"({"a":[null]})", R"({"a":[null,{"b":null}]})", R"({"a":[null,{"b":null}]})"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Merge(c.target, c.patch), c.result) << c.patch;
}

// The patched document, or "! " and the error.
std::string Patch(const char* document, std::string_view patch, const PatchLimits& limits = {}) {
  const auto patched = ApplyJsonPatch(*ParseJson(document), *ParseJson(patch), limits);
  return patched.ok() ? WriteJson(*patched) : StrCat("! ", patched.status().ToString());
}

TEST(JsonPatchTest, Operations) {
  const struct {
    const char* document;
    const char* patch;
    const char* result;
  } kCases[] = {
      {R"({"a":1})", R"([])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":{"c":null}}])",
       R"({"a":1,"b":{"c":null}})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"","value":[]}])", R"([])"},
      {R"([1,3])", R"([{"op":"add","path":"/1","value":2}])", R"([1,2,3])"},
      {R"([1])", R"([{"op":"add","path":"/1","value":2}])", R"([1,2])"},
      {R"([1])", R"([{"op":"add","path":"/-","value":[2]}])", R"([1,[2]])"},
      {R"({"a":{"b":1}})", R"([{"op":"remove","path":"/a/b"}])", R"({"a":{}})"},
      {R"([1,2,3])", R"([{"op":"remove","path":"/0"}])", R"([2,3])"},
      {R"({"a":1})", R"([{"op":"remove","path":""}])", R"(null)"},
      {R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])", R"({"a":null})"},
      {R"([1,2])", R"([{"op":"replace","path":"/1","value":"x"}])", R"([1,"x"])"},
      {R"({"a":{"b":1},"c":{}})", R"([{"op":"move","from":"/a/b","path":"/c/d"}])",
       R"({"a":{},"c":{"d":1}})"},
      {R"([1,2,3])", R"([{"op":"move","from":"/0","path":"/2"}])", R"([2,3,1])"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/a/c"}])",
       R"({"a":{"b":1,"c":{"b":1}}})"},
      {R"({"a":[1]})", R"([{"op":"test","path":"/a","value":[1.0]}])", R"({"a":[1]})"},
      {R"({"a/b":{"~1":1}})", R"([{"op":"remove","path":"/a~1b/~01"}])", R"({"a/b":{}})"},
      {R"({"":{"":1}})", R"([{"op":"remove","path":"//"}])", R"({"":{}})"},
      {R"({"0":1})", R"([{"op":"replace","path":"/0","value":2}])", R"({"0":2})"},
      // The server ignores these members of an operation.
      {R"({})", R"([{"op":"add","path":"/a","value":1,"from":3,"x":[]}])", R"({"a":1})"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Patch(c.document, c.patch), c.result) << c.patch;
}

TEST(JsonPatchTest, ErrorsHaveTheOperationsNumber) {
  const struct {
    const char* document;
    const char* patch;
    const char* error;
  } kCases[] = {
      {"{}", "{}", "! INVALID_ARGUMENT: a JSON patch must be an array"},
      {"{}", "[1]", "! INVALID_ARGUMENT: operation 0 of the JSON patch: is not an object"},
      {"{}", R"([{"path":""}])",
       "! INVALID_ARGUMENT: operation 0 of the JSON patch: has no string \"op\""},
      {"{}", R"([{"op":"add","path":1,"value":1}])",
       "! INVALID_ARGUMENT: operation 0 of the JSON patch: has no string \"path\""},
      {"{}", R"([{"op":"copy","path":""}])",
       "! INVALID_ARGUMENT: operation 0 of the JSON patch: has no string \"from\""},
      {"{}", R"([{"op":"merge","path":""}])",
       "! INVALID_ARGUMENT: operation 0 of the JSON patch: has the unknown op \"merge\""},
      {"{}", R"([{"op":"add","path":""}])",
       "! INVALID_ARGUMENT: operation 0 of the JSON patch: has no value to add"},
      {"{}", R"([{"op":"remove","path":"a"}])",
       "! INVALID_ARGUMENT: operation 0 of the JSON patch: the path \"a\" does not begin with '/'"},
      {"{}", R"([{"op":"remove","path":"/~2"}])",
       "! INVALID_ARGUMENT: operation 0 of the JSON patch: the path \"/~2\" has a '~' that is "
       "neither ~0 nor ~1"},
      {"{}", R"([{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b"}])",
       "! FAILED_PRECONDITION: operation 1 of the JSON patch: there is nothing at \"/b\""},
      {"{}", R"([{"op":"replace","path":"/a","value":1}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: there is nothing at \"/a\""},
      {"{}", R"([{"op":"add","path":"/a/b","value":1}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: there is nothing at \"/a/b\""},
      {"[1]", R"([{"op":"add","path":"/2","value":1}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: there is nothing at \"/2\""},
      {"{}", R"([{"op":"move","from":"/a","path":"/b"}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: there is nothing at \"/a\""},
      {"{}", R"([{"op":"copy","from":"/a","path":"/b"}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: there is nothing at \"/a\""},
      {"[1]", R"([{"op":"remove","path":"/-"}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: there is nothing at \"/-\""},
      {"[1]", R"([{"op":"remove","path":"/00"}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: there is nothing at \"/00\""},
      {R"({"a":"b"})", R"([{"op":"remove","path":"/a/0"}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: there is nothing at \"/a/0\""},
      {R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: \"/a\" cannot be moved into itself"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":"1"}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: the value at \"/a\" differs"},
      {R"({"a":[1]})", R"([{"op":"test","path":"/a","value":[1,2]}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: the value at \"/a\" differs"},
      {R"({"a":[]})", R"([{"op":"test","path":"/a","value":[1]}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: the value at \"/a\" differs"},
      {R"({"a":{"b":1}})", R"([{"op":"test","path":"/a","value":{"b":1,"c":2}}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: the value at \"/a\" differs"},
      {R"({"a":{}})", R"([{"op":"test","path":"/a","value":{"b":1}}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: the value at \"/a\" differs"},
      {R"({"a":true})", R"([{"op":"test","path":"/a","value":1}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: the value at \"/a\" differs"},
      {R"({"a":9007199254740993})", R"([{"op":"test","path":"/a","value":9007199254740992.0}])",
       "! FAILED_PRECONDITION: operation 0 of the JSON patch: the value at \"/a\" differs"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Patch(c.document, c.patch), c.error) << c.patch;
}

TEST(JsonPatchTest, EnforcesItsLimits) {
  const char* const two = R"([{"op":"test","path":"","value":{}},{"op":"remove","path":""}])";
  EXPECT_EQ(Patch("{}", two, {.max_operations = 2}), "null");
  EXPECT_THAT(Patch("{}", two, {.max_operations = 1}), testing::HasSubstr("RESOURCE_EXHAUSTED"));
  // A move of a value onto itself is accepted even if the document is too deep already.
  EXPECT_EQ(
      Patch(R"({"a":{"b":{}}})", R"([{"op":"move","from":"/a","path":"/a"}])", {.max_depth = 1}),
      R"({"a":{"b":{}}})");
  // Each copy doubles the document.
  std::string doubling = "[";
  for (int i = 0; i < 100; ++i) {
    StrAppend(&doubling, i > 0 ? "," : "", R"({"op":"copy","from":"","path":"/)", i, "\"}");
  }
  EXPECT_THAT(Patch("{}", doubling + "]"), testing::HasSubstr("copies more than the limit"));
  const char* const deeper = R"([{"op":"copy","from":"","path":"/a/a"}])";
  EXPECT_EQ(Patch(R"({"a":{}})", deeper, {.max_depth = 4}), R"({"a":{"a":{"a":{}}}})");
  EXPECT_THAT(Patch(R"({"a":{}})", deeper, {.max_depth = 3}), testing::HasSubstr("deeper"));
  EXPECT_THAT(Patch("{}", R"([{"op":"replace","path":"","value":[[]]}])", {.max_depth = 1}),
              testing::HasSubstr("deeper"));
}

}  // namespace
}  // namespace mandate
