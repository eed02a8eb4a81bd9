#include "testing/apiserver/definitions.h"

#include <gtest/gtest.h>

#include <string>

#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

const GroupResource kDefinitions{"apiextensions.k8s.io", "customresourcedefinitions"};
const GroupResource kFoos{"example.com", "foos"};

Json::Value Parse(const std::string& json) {
  auto value = ParseJson(json);
  EXPECT_TRUE(value.ok()) << json << ": " << value.status();
  return value.ok() ? *std::move(value) : Json::Value();
}

Json::Value Definition(const std::string& versions) {
  return Parse(
      StrCat(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
             R"("metadata":{"name":"foos.example.com","uid":"u"},"spec":{"group":"example.com",)"
             R"("scope":"Namespaced","names":{"plural":"foos","kind":"Foo","shortNames":["fo"]},)"
             R"("versions":[)",
             versions, "]}}"));
}

std::string Version(const char* name, bool served, const char* more = "") {
  return StrCat(R"({"name":")", name, R"(","served":)", served ? "true" : "false", R"(,"storage":)",
                served ? "true" : "false", R"(,"schema":{"openAPIV3Schema":{"type":"object"}})",
                more, "}");
}

class DefinitionsTest : public ::testing::Test {
 protected:
  SimulatedLoop loop_;
  Core core_{loop_, 1, {}};
  Definitions definitions_{core_};
};

TEST_F(DefinitionsTest, ServesServedVersionsAndWritesStatus) {
  core_.store.Put(kDefinitions, Definition(Version("v1", true, R"(,"subresources":{"status":{}})") +
                                           "," + Version("v1alpha1", false)));
  const auto type = core_.kinds.OfKind("example.com/v1", "Foo");
  ASSERT_NE(type, nullptr) << "at once";
  EXPECT_TRUE(type->custom());
  EXPECT_TRUE(type->has_status);
  EXPECT_EQ(type->list_kind, "FooList");
  EXPECT_EQ(type->short_names, std::vector<std::string>{"fo"});
  EXPECT_EQ(core_.kinds.OfKind("example.com/v1alpha1", "Foo"), nullptr);
  loop_.RunReady();
  const Json::Value status =
      core_.store.Get(kDefinitions, "", "foos.example.com")->Parse()["status"];
  EXPECT_EQ(WriteJson(status["storedVersions"]), R"(["v1"])");
  EXPECT_EQ(status["conditions"][1]["type"], Json::Value("Established"));
  const int64_t revision = core_.store.revision();
  loop_.RunReady();
  EXPECT_EQ(core_.store.revision(), revision) << "and once";
}

TEST_F(DefinitionsTest, DeletedDefinitionDeletesItsObjects) {
  core_.store.Put(kDefinitions, Definition(Version("v1", true)));
  core_.store.Put(kFoos, Parse(R"({"apiVersion":"example.com/v1","kind":"Foo",)"
                               R"("metadata":{"namespace":"n","name":"a"}})"));
  loop_.RunReady();
  core_.store.Delete(kDefinitions, "", "foos.example.com");
  loop_.RunReady();
  EXPECT_TRUE(core_.store.List(kFoos).empty());
  EXPECT_EQ(core_.kinds.OfKind("example.com/v1", "Foo"), nullptr);
}

TEST_F(DefinitionsTest, RejectsUnsupportedFeatures) {
  Json::Value converted = Definition(Version("v1", true));
  converted["spec"]["conversion"]["strategy"] = "Webhook";
  EXPECT_FALSE(Definitions::Check(converted).ok());
  EXPECT_FALSE(
      Definitions::Check(Definition(Version("v1", true, R"(,"subresources":{"scale":{}})"))).ok());
  Json::Value keyword = Definition(Version("v1", true));
  keyword["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["oneOf"] = Json::Value();
  EXPECT_FALSE(Definitions::Check(keyword).ok());
  EXPECT_TRUE(Definitions::Check(Definition(Version("v1", true))).ok());
}

}  // namespace
}  // namespace mandate::apiserver
