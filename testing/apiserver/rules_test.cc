// Validation and defaults: cases that the rows of testing/conformance do not have.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/kind_rules.h"
#include "testing/apiserver/meta_rules.h"

namespace mandate::apiserver {
namespace {

Json::Value Parse(const std::string& json) {
  auto value = ParseJson(json);
  EXPECT_TRUE(value.ok()) << json << ": " << value.status();
  return value.ok() ? *std::move(value) : Json::Value();
}

// "field: reason, …"
std::string Text(const std::vector<Cause>& causes) {
  std::string text;
  for (const Cause& cause : causes) {
    StrAppend(&text, text.empty() ? "" : ", ", cause.field, ": ", cause.reason);
  }
  return text;
}

class RulesTest : public ::testing::Test {
 protected:
  const ResourceType& Type(const std::string& api_version, const std::string& kind) {
    types_.push_back(kinds_.OfKind(api_version, kind));
    EXPECT_NE(types_.back(), nullptr) << kind;
    return *types_.back();
  }

  Kinds kinds_;
  std::vector<std::shared_ptr<const ResourceType>> types_;
};

TEST_F(RulesTest, Names) {
  const struct {
    const char* api_version;
    const char* kind;
    std::string name;
    bool valid;
  } kCases[] = {
      {"v1", "ConfigMap", "a.b-c", true},
      {"v1", "ConfigMap", std::string(253, 'a'), true},
      {"v1", "ConfigMap", std::string(254, 'a'), false},
      {"v1", "ConfigMap", "A", false},
      {"v1", "ConfigMap", "-a", false},
      {"v1", "ConfigMap", "a..b", false},
      {"v1", "Namespace", "a-b", true},
      {"v1", "Namespace", "a.b", false},
      {"v1", "Namespace", std::string(63, 'a'), true},
      {"v1", "Namespace", std::string(64, 'a'), false},
      {"rbac.authorization.k8s.io/v1", "ClusterRole", "system:x", true},
      {"rbac.authorization.k8s.io/v1", "ClusterRole", "A B", true},
      {"rbac.authorization.k8s.io/v1", "ClusterRole", "a/b", false},
      {"rbac.authorization.k8s.io/v1", "ClusterRole", "a%b", false},
      {"rbac.authorization.k8s.io/v1", "ClusterRole", "..", false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(NameProblem(Type(c.api_version, c.kind), c.name).empty(), c.valid)
        << c.kind << " " << c.name;
  }
}

TEST_F(RulesTest, Metadata) {
  const struct {
    const char* metadata;
    const char* causes;
  } kCases[] = {
      {R"({"name":"a"})", ""},
      {R"({})", "metadata.name: FieldValueRequired"},
      {R"({"name":"a","generateName":"b-"})", ""},
      {R"({"name":"a","generateName":"B-"})", "metadata.generateName: FieldValueInvalid"},
      {R"({"name":"a","labels":{"x/y":"z","k":""}})", ""},
      {R"({"name":"a","labels":{"/y":"z"}})", "metadata.labels: FieldValueInvalid"},
      {R"({"name":"a","labels":{"y":"-z"}})", "metadata.labels: FieldValueInvalid"},
      {R"({"name":"a","annotations":{"y y":"z"}})", "metadata.annotations: FieldValueInvalid"},
      {R"({"name":"a","annotations":{"y":"- anything -"}})", ""},
      {R"({"name":"a","finalizers":["x.io/y","orphan","kubernetes"]})", ""},
      {R"({"name":"a","finalizers":["orphan","foregroundDeletion"]})",
       "metadata.finalizers: FieldValueInvalid"},
      {R"({"name":"a","finalizers":["mine","x y/z"]})",
       "metadata.finalizers: FieldValueInvalid, metadata.finalizers[0]: FieldValueInvalid"},
      {R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}]})",
       "metadata.ownerReferences: FieldValueInvalid"},
      {R"({"name":"a","finalizers":["x.io/y","mine"]})",
       "metadata.finalizers[1]: FieldValueInvalid"},
      {R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u"}]})",
       ""},
      {R"({"name":"a","ownerReferences":[{"kind":"K","name":"n"}]})",
       "metadata.ownerReferences.apiVersion: FieldValueInvalid, "
       "metadata.ownerReferences.uid: FieldValueInvalid"},
      {R"({"name":"a","ownerReferences":[
           {"apiVersion":"v1","kind":"K","name":"n","uid":"u","controller":true},
           {"apiVersion":"v1","kind":"K","name":"m","uid":"v","controller":true}]})",
       "metadata.ownerReferences: FieldValueInvalid"},
  };
  for (const auto& c : kCases) {
    const Json::Value object = Parse(StrCat(R"({"metadata":)", c.metadata, "}"));
    std::vector<Cause> causes = CheckNames(Type("v1", "ConfigMap"), object);
    for (Cause& cause : CheckMeta(Type("v1", "ConfigMap"), object)) {
      causes.push_back(std::move(cause));
    }
    EXPECT_EQ(Text(causes), c.causes) << c.metadata;
  }
}

TEST_F(RulesTest, RepeatedOwnersAreDropped) {
  Json::Value object = Parse(R"({"metadata":{"ownerReferences":[
      {"name":"n","uid":"u"},{"name":"m","uid":"u"},{"name":"n","uid":"u"},
      {"name":"n","uid":"u","controller":false},{"name":"m","uid":"u"},{"uid":""},{"uid":""}]}})");
  EXPECT_EQ(DropRepeatedOwners(object), (std::vector<std::string>{"u", "u", ""}));
  EXPECT_EQ(WriteJson(object["metadata"]["ownerReferences"]),
            R"([{"name":"n","uid":"u"},{"name":"m","uid":"u"},)"
            R"({"controller":false,"name":"n","uid":"u"},{"uid":""}])");
  EXPECT_TRUE(DropRepeatedOwners(object).empty());
}

TEST_F(RulesTest, ChangesOfMetadata) {
  const struct {
    const char* before;
    const char* now;
    const char* causes;
  } kCases[] = {
      {R"({"uid":"u"})", R"({"uid":"u","finalizers":["a.io/b"]})", ""},
      {R"({"uid":"u"})", R"({"uid":"v"})", "metadata.uid: FieldValueInvalid"},
      {R"({"deletionTimestamp":"t","finalizers":["a.io/b","a.io/c"]})",
       R"({"deletionTimestamp":"t","finalizers":["a.io/c"]})", ""},
      {R"({"deletionTimestamp":"t","finalizers":["a.io/b"]})",
       R"({"deletionTimestamp":"t","finalizers":["a.io/b","a.io/c"]})",
       "metadata.finalizers: FieldValueForbidden"},
      {R"({"deletionTimestamp":"t"})", R"({})", "metadata.deletionTimestamp: FieldValueInvalid"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Text(CheckMetaUpdate(Parse(StrCat(R"({"metadata":)", c.now, "}")),
                                   Parse(StrCat(R"({"metadata":)", c.before, "}")))),
              c.causes)
        << c.now;
  }
}

TEST_F(RulesTest, Defaults) {
  const struct {
    const char* api_version;
    const char* kind;
    const char* given;
    const char* result;
  } kCases[] = {
      {"v1", "ConfigMap", R"({"data":{"a":"b"}})", R"({"data":{"a":"b"}})"},
      {"v1", "Secret", R"({"data":{"a":"eA==","b":"eQ=="},"stringData":{"a":"z"}})",
       R"({"data":{"a":"eg==","b":"eQ=="},"type":"Opaque"})"},
      {"v1", "Secret", R"({"type":"x"})", R"({"type":"x"})"},
      {"apiextensions.k8s.io/v1", "CustomResourceDefinition",
       R"({"spec":{"names":{"kind":"Foo"}}})",
       R"({"spec":{"conversion":{"strategy":"None"},)"
       R"("names":{"kind":"Foo","listKind":"FooList","singular":"foo"}}})"},
  };
  for (const auto& c : kCases) {
    Json::Value object = Parse(c.given);
    SetDefaults(Type(c.api_version, c.kind), object);
    EXPECT_EQ(object, Parse(c.result)) << WriteJson(object);
  }
}

TEST_F(RulesTest, Kinds) {
  const struct {
    const char* api_version;
    const char* kind;
    const char* object;
    const char* old;  // "": a creation
    const char* causes;
  } kCases[] = {
      {"v1", "ConfigMap", R"({"data":{"a.B_c-1":""}})", "", ""},
      {"v1", "ConfigMap", R"({"data":{"a/b":""},"binaryData":{"..":""}})", "",
       "data[a/b]: FieldValueInvalid, binaryData[..]: FieldValueInvalid"},
      {"v1", "ConfigMap", R"({"immutable":true,"data":{"a":"1"}})",
       R"({"immutable":true,"data":{"a":"1"}})", ""},
      {"v1", "ConfigMap", R"({"data":{"a":"2"}})", R"({"immutable":true,"data":{"a":"1"}})",
       "immutable: FieldValueForbidden, data: FieldValueForbidden"},
      {"v1", "Secret", R"({"type":"b"})", R"({"type":"a"})", "type: FieldValueInvalid"},
      {"v1", "Secret", R"({"type":"kubernetes.io/service-account-token"})", "",
       "metadata.annotations[kubernetes.io/service-account.name]: FieldValueRequired"},
      {"coordination.k8s.io/v1", "Lease",
       R"({"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}})", "",
       "spec.leaseDurationSeconds: FieldValueInvalid, spec.leaseTransitions: FieldValueInvalid"},
      {"coordination.k8s.io/v1", "Lease", R"({"spec":{"leaseDurationSeconds":1}})", "", ""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Text(CheckKind(Type(c.api_version, c.kind), "", Parse(c.object),
                             *c.old == '\0' ? Json::Value() : Parse(c.old))),
              c.causes)
        << c.kind << " " << c.object;
  }
}

TEST_F(RulesTest, KeepsFieldsThatAWriteCannotSet) {
  // Only the status subresource changes the status, and it does not change the spec.
  const ResourceType& type = Type("apps/v1", "Deployment");
  Json::Value created = Parse(R"({"metadata":{"generation":7},"spec":{"replicas":1},"status":{}})");
  PrepareForCreate(type, created);
  EXPECT_EQ(created, Parse(R"({"metadata":{"generation":1},"spec":{"replicas":1}})"));

  const Json::Value old =
      Parse(R"({"metadata":{"generation":1},"spec":{"replicas":1},"status":{"replicas":1}})");
  const struct {
    const char* subresource;
    const char* given;
    const char* result;
  } kCases[] = {
      {"", R"({"spec":{"replicas":1},"status":{"replicas":9}})",
       R"({"metadata":{"generation":1},"spec":{"replicas":1},"status":{"replicas":1}})"},
      {"", R"({"spec":{"replicas":2}})",
       R"({"metadata":{"generation":2},"spec":{"replicas":2},"status":{"replicas":1}})"},
      {"status", R"({"spec":{"replicas":2},"status":{"replicas":9}})",
       R"({"metadata":{"generation":1},"spec":{"replicas":1},"status":{"replicas":9}})"},
  };
  for (const auto& c : kCases) {
    Json::Value object = Parse(c.given);
    PrepareForUpdate(type, c.subresource, old, object);
    EXPECT_EQ(object, Parse(c.result)) << c.subresource << " " << WriteJson(object);
  }
}

}  // namespace
}  // namespace mandate::apiserver
