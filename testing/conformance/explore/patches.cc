#include "testing/conformance/explore/patches.h"

#include <cstdlib>
#include <initializer_list>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::conformance::explore {
namespace {

// Parses a literal of this file; invalid JSON is a bug of this file.
Json::Value Parsed(Dice& dice, std::initializer_list<const char*> texts) {
  auto parsed = ParseJson(dice.Pick(texts));
  if (!parsed.ok()) std::abort();
  return *std::move(parsed);
}

}  // namespace

Json::Value MakeMergePatch(const Resource& resource, Dice& dice) {
  if (dice.Chance(35)) {
    Json::Value patch = MakeObject(resource, "a", dice);
    patch.removeMember("metadata");
    if (dice.Chance(30)) patch["metadata"]["resourceVersion"] = dice.Pick({"@{rv:a}", "@{rv0:a}"});
    if (dice.Chance(15)) Disturb(resource, patch, dice);
    return patch;
  }
  return Parsed(dice, {R"({"metadata":{"labels":{"l":"3"}}})",
                       R"({"metadata":{"labels":{"l":null}}})",
                       R"({"metadata":{"labels":null}})",
                       R"({"metadata":{"finalizers":null}})",
                       R"({"metadata":{"finalizers":["example.com/f"]}})",
                       R"({"data":{"k":null}})",
                       R"({"data":{"k":"patched"}})",
                       R"({"data":{"k":1}})",
                       R"({"data":null})",
                       R"({"metadata":{"name":"z"}})",
                       R"({"metadata":{"uid":"x"}})",
                       R"({"metadata":{"namespace":"z"}})",
                       R"({"metadata":null})",
                       "{}",
                       "null",
                       "[]",
                       "\"x\"",
                       "1",
                       R"({"spec":{"size":3}})",
                       R"({"spec":null})",
                       R"({"status":{"phase":"P"}})",
                       R"({"kind":"X"})",
                       R"({"apiVersion":"v2"})",
                       R"({"unknown":1})",
                       R"({"spec":{"free":{"x":null,"y":1}}})",
                       R"({"metadata":{"deletionTimestamp":"2001-02-03T04:05:06Z"}})",
                       R"({"metadata":{"managedFields":[]}})",
                       R"({"metadata":{"managedFields":[{}]}})",
                       R"({"metadata":{"resourceVersion":"x"}})",
                       R"({"metadata":{"creationTimestamp":null}})",
                       R"({"metadata":{"annotations":{"n":"2"}}})"});
}

Json::Value MakeJsonPatch(Dice& dice) {
  Json::Value patch(Json::arrayValue);
  for (size_t n = dice.Below(3) + (dice.Chance(90) ? 1 : 0); n > 0; --n) {
    patch.append(
        Parsed(dice, {R"({"op":"add","path":"/metadata/labels","value":{"l":"4"}})",
                      R"({"op":"add","path":"/metadata/labels/l","value":"4"})",
                      R"({"op":"remove","path":"/metadata/labels/l"})",
                      R"({"op":"replace","path":"/data/k","value":"r"})",
                      R"({"op":"test","path":"/data/k","value":"v"})",
                      R"({"op":"test","path":"/metadata/name","value":"a"})",
                      R"({"op":"copy","from":"/metadata/labels","path":"/metadata/annotations"})",
                      R"({"op":"move","from":"/data/k","path":"/data/m"})",
                      R"({"op":"remove","path":"/data"})",
                      R"({"op":"remove","path":""})",
                      R"({"op":"add","path":"","value":{}})",
                      R"({"op":"bad","path":"/data"})",
                      R"({"op":"add","path":"data/k","value":"x"})",
                      R"({"op":"add","path":"/metadata/finalizers","value":["example.com/f"]})",
                      R"({"op":"add","path":"/metadata/finalizers/-","value":"example.com/g"})",
                      R"({"op":"remove","path":"/metadata/finalizers/0"})",
                      R"({"op":"remove","path":"/metadata/finalizers"})",
                      R"({"op":"replace","path":"/metadata/name","value":"q"})",
                      R"({"op":"add","path":"/spec/size","value":4})",
                      R"({"op":"add","path":"/spec/tags/0","value":"t"})",
                      R"({"op":"add","path":"/spec/tags/9","value":"t"})",
                      R"({"op":"replace","path":"/spec/tags/-1","value":"t"})",
                      R"({"op":"test","path":"/metadata/labels/none","value":null})",
                      R"({"op":"add","path":"/unknown","value":1})",
                      R"({"path":"/data"})",
                      R"({"op":"add","path":"/data/x~1y","value":"t"})",
                      R"({"op":"add","path":"/data/a.b","value":"t"})",
                      R"({"op":"add","path":"/metadata/resourceVersion","value":"@{rv0:a}"})",
                      "1",
                      "null"}));
  }
  return dice.Chance(95)
             ? patch
             : Parsed(dice, {"{}", "null", "\"x\"", R"({"op":"remove","path":"/data"})"});
}

std::string MakeLabelSelector(Dice& dice) {
  return dice.Pick({"l",
                    "l%3D1",
                    "l=1",
                    "l==1",
                    "l!=1",
                    "!l",
                    "l%20in%20(1,2)",
                    "l%20notin%20(1)",
                    "l=1,m=x",
                    "l%3E1",
                    "l%3C4",
                    "l%3Ex",
                    "l,",
                    ",l",
                    "l%20in%20()",
                    "l%20in%201",
                    "=1",
                    "l=",
                    "l%3D%3D",
                    "l=a%20b",
                    "l=-",
                    "-a=1",
                    "l%20in%20(1,,2)",
                    "!l=1",
                    "l%20exists",
                    "x/y/z",
                    "X%2Fy=1",
                    "%20l%20=%201%20",
                    "l%3E%3D1",
                    "(l)",
                    "l%20in%20(1",
                    "l=1,,m=x",
                    "l!1",
                    "a%3E1,b",
                    "l%20IN%20(1)",
                    "l%3E-1",
                    "l=%22x%22"});
}

}  // namespace mandate::conformance::explore
