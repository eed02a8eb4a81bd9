#include "manager/admission/json_change.h"

#include <gtest/gtest.h>

#include <random>

#include "manager/core/testing/must.h"
#include "manager/core/testing/seeds.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

Json::Value Parse(std::string_view text) { return Must(ParseJson(text)); }

TEST(ApplyTypedChange, KeepsMembersThatTheTypeDoesNotKnow) {
  const struct {
    const char* name;
    const char* whole;
    const char* before;
    const char* after;
    const char* want;
  } kCases[] = {
      {"no change keeps the document", R"({"a":1,"x":null})", R"({"a":1})", R"({"a":1})",
       R"({"a":1,"x":null})"},
      {"a changed member", R"({"a":1,"x":2})", R"({"a":1})", R"({"a":3})", R"({"a":3,"x":2})"},
      {"a new member", R"({"x":2})", "{}", R"({"a":3})", R"({"a":3,"x":2})"},
      {"a member that was null", R"({"a":null})", "{}", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
      {"a removed member", R"({"a":1,"x":2})", R"({"a":1})", "{}", R"({"x":2})"},
      {"within an object", R"({"s":{"a":1,"x":2}})", R"({"s":{"a":1}})", R"({"s":{"a":3}})",
       R"({"s":{"a":3,"x":2}})"},
      {"an element changed in place", R"([{"a":1,"x":1},{"a":2,"x":2}])", R"([{"a":1},{"a":2}])",
       R"([{"a":1},{"a":3}])", R"([{"a":1,"x":1},{"a":3,"x":2}])"},
      {"an element put in front", R"([{"a":1,"x":1}])", R"([{"a":1}])", R"([{"a":0},{"a":1}])",
       R"([{"a":0},{"a":1,"x":1}])"},
      {"an element removed", R"([{"a":1,"x":1},{"a":2,"x":2}])", R"([{"a":1},{"a":2}])",
       R"([{"a":2}])", R"([{"a":2,"x":2}])"},
      {"elements with names in another order and changed",
       R"([{"name":"p","x":1},{"name":"q","x":2}])", R"([{"name":"p"},{"name":"q"}])",
       R"([{"name":"r"},{"name":"q","a":1},{"name":"p"}])",
       R"([{"name":"r"},{"a":1,"name":"q","x":2},{"name":"p","x":1}])"},
      {"elements with the same name stay in their places",
       R"([{"name":"p","x":1},{"name":"p","x":2}])", R"([{"name":"p"},{"name":"p"}])",
       R"([{"a":1,"name":"p"},{"a":2,"name":"p"}])",
       R"([{"a":1,"name":"p","x":1},{"a":2,"name":"p","x":2}])"},
      {"an array of which the type has only a part", R"([{"a":0,"x":0},{"a":1,"x":1}])",
       R"([{"a":1}])", R"([{"a":2}])", R"([{"a":2}])"},
      {"a member that only the type has", "{}", R"({"a":{"b":1}})", R"({"a":{"b":2}})",
       R"({"a":{"b":2}})"},
      {"another type", R"({"a":[1]})", R"({"a":[1]})", R"({"a":"b"})", R"({"a":"b"})"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(WriteJson(ApplyTypedChange(Parse(c.whole), Parse(c.before), Parse(c.after))),
              WriteJson(Parse(c.want)));
  }
}

TEST(JsonPatch, HasTheOperationsOfTheChange) {
  const struct {
    const char* from;
    const char* to;
    const char* want;
  } kCases[] = {
      {R"({"a":1})", R"({"a":1})", "[]"},
      {R"({"a":1})", R"({"a":2})", R"([{"op":"replace","path":"/a","value":2}])"},
      {"{}", R"({"a/b":{"~":1}})", R"([{"op":"add","path":"/a~1b","value":{"~":1}}])"},
      {R"({"~a":1})", "{}", R"([{"op":"remove","path":"/~0a"}])"},
      {R"({"a":null})", R"({"a":{}})", R"([{"op":"replace","path":"/a","value":{}}])"},
      {R"({"a":[1,2,3]})", R"({"a":[1,3]})", R"([{"op":"remove","path":"/a/1"}])"},
      {R"({"a":[1,3]})", R"({"a":[1,2,3]})", R"([{"op":"add","path":"/a/1","value":2}])"},
      {"[1,1]", "[1]", R"([{"op":"remove","path":"/1"}])"},
      {R"([1,2,3,4])", "[9]",
       R"([{"op":"replace","path":"/0","value":9},{"op":"remove","path":"/3"},)"
       R"({"op":"remove","path":"/2"},{"op":"remove","path":"/1"}])"},
      {"1", "2", R"([{"op":"replace","path":"","value":2}])"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(WriteJson(DiffToJsonPatch(Parse(c.from), Parse(c.to))), WriteJson(Parse(c.want)))
        << c.from << " -> " << c.to;
  }
}

// Applies the operations that JsonPatch uses.
void Apply(const Json::Value& patch, Json::Value& document) {
  for (const Json::Value& operation : patch) {
    const std::string path = operation["path"].asString();
    const std::string op = operation["op"].asString();
    if (path.empty()) {
      document = operation["value"];
      continue;
    }
    Json::Value* parent = &document;
    std::string key;
    for (size_t at = 1; at <= path.size();) {
      const size_t end = std::min(path.find('/', at), path.size());
      if (!key.empty()) parent = parent->isArray() ? &(*parent)[std::stoi(key)] : &(*parent)[key];
      key = path.substr(at, end - at);
      at = end + 1;
    }
    if (!parent->isArray()) {
      if (op == "remove") {
        ASSERT_TRUE(parent->isMember(key)) << path;
        parent->removeMember(key);
      } else {
        ASSERT_EQ(parent->isMember(key), op == "replace") << path;
        (*parent)[key] = operation["value"];
      }
      continue;
    }
    const auto index = static_cast<Json::ArrayIndex>(std::stoi(key));
    ASSERT_LT(index, parent->size() + (op == "add" ? 1 : 0)) << path;
    if (op == "remove") {
      Json::Value removed;
      parent->removeIndex(index, &removed);
    } else if (op == "add") {
      parent->insert(index, operation["value"]);
    } else {
      (*parent)[index] = operation["value"];
    }
  }
}

Json::Value RandomJson(std::mt19937_64& random, int depth) {
  const uint64_t kind = random() % (depth == 0 ? 2 : 5);
  if (kind == 0) return Json::Value(static_cast<Json::Int64>(random() % 3));
  if (kind == 1) return Json::Value(random() % 2 == 0 ? "s" : "t");
  Json::Value value(kind == 2 ? Json::arrayValue : Json::objectValue);
  for (uint64_t i = random() % 5; i > 0; --i) {
    if (kind == 2) {
      value.append(RandomJson(random, depth - 1));
    } else {
      value[std::string(1, static_cast<char>('a' + random() % 4))] = RandomJson(random, depth - 1);
    }
  }
  return value;
}

TEST(JsonPatch, TurnsOneDocumentIntoTheOther) {
  RunSeeds(2000, [](uint64_t seed) {
    std::mt19937_64 random(seed);
    const Json::Value from = RandomJson(random, 4);
    const Json::Value to = RandomJson(random, 4);
    Json::Value document = from;
    Apply(DiffToJsonPatch(from, to), document);
    EXPECT_EQ(document, to) << WriteJson(from) << " -> " << WriteJson(to);
    // A type that knows the whole document changes all of it.
    EXPECT_EQ(ApplyTypedChange(from, from, to), to) << WriteJson(from) << " -> " << WriteJson(to);
  });
}

}  // namespace
}  // namespace mandate
