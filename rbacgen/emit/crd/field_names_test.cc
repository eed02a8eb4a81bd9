// A field has the same name in the CustomResourceDefinition and in the JSON that the codec writes
// and reads, and so in the API server's storage.
#include "rbacgen/emit/crd/field_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "google/protobuf/util/message_differencer.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"
#include "rbacgen/emit/crd/test_tree.h"
#include "rbacgen/emit/crd/testing/random_object.h"
#include "testing/apiserver/schema.h"
#include "testing/conformance/json_yaml.h"

namespace mandate::rbacgen {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using ::testing::HasSubstr;
using ::testing::StrEq;

// Checks that the field with this number, found without its name, has the value from the JSON.
void ExpectField(const RandomKind& kind, const RandomField& model, const Message& message,
                 int number, const Json::Value& value);

void ExpectMessage(const RandomKind& kind, size_t index, const Message& message,
                   const Json::Value& json) {
  const auto& fields = kind.messages[index].fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!json.isMember(fields[i].json)) continue;
    ExpectField(kind, fields[i], message, static_cast<int>(i) + 1, json[fields[i].json]);
  }
}

void ExpectField(const RandomKind& kind, const RandomField& model, const Message& message,
                 int number, const Json::Value& value) {
  SCOPED_TRACE(StrCat(model.name, " is ", model.json));
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByNumber(number);
  ASSERT_NE(field, nullptr);
  const auto& reflection = *message.GetReflection();
  if (field->is_repeated()) {
    EXPECT_EQ(reflection.FieldSize(message, field), static_cast<int>(value.size()));
    return;
  }
  ASSERT_TRUE(reflection.HasField(message, field));
  if (model.type == RandomField::Type::kString) {
    EXPECT_EQ(reflection.GetString(message, field), value.asString());
  } else if (model.type == RandomField::Type::kInt64) {
    EXPECT_EQ(reflection.GetInt64(message, field), value.asInt64());
  } else if (model.type == RandomField::Type::kMessage) {
    ExpectMessage(kind, model.message, reflection.GetMessage(message, field), value);
  }
}

// Checks that the schema has exactly the fields of the model, by their names in JSON.
void ExpectSchema(const RandomKind& kind, size_t index, const Json::Value& schema) {
  std::set<std::string> expected;
  for (const RandomField& field : kind.messages[index].fields) {
    expected.insert(field.json);
    if (field.type != RandomField::Type::kMessage) continue;
    const Json::Value* inner = &schema["properties"][field.json];
    if (field.shape == RandomField::Shape::kList) inner = &(*inner)["items"];
    if (field.shape == RandomField::Shape::kMap) inner = &(*inner)["additionalProperties"];
    ExpectSchema(kind, field.message, *inner);
  }
  std::set<std::string> found;
  for (const std::string& name : schema["properties"].getMemberNames()) found.insert(name);
  EXPECT_EQ(found, expected) << kind.messages[index].name;
}

TEST(FieldNamesTest, DefinitionCodecAndServerAgreeOnRandomKinds) {
  int64_t renamed = 0;
  int64_t spelt = 0;
  const int64_t ran = RunSeeds(150, [&](uint64_t seed) {
    auto loaded = LoadedKind::Load(MakeRandomKind(seed), std::getenv("TEST_TMPDIR"),
                                   {".", "external/kubernetes"});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const RandomKind& kind = (*loaded)->kind();
    SCOPED_TRACE(kind.text);
    for (const RandomMessage& message : kind.messages) {
      for (const RandomField& field : message.fields) {
        renamed += field.renamed ? 1 : 0;
        spelt += field.name != field.json ? 1 : 0;
      }
    }

    const Json::Value definition =
        conformance::ToJson(YAML::Load((*loaded)->definition().text))["spec"]["versions"][0];
    const Json::Value schema = definition["schema"]["openAPIV3Schema"];
    ExpectSchema(kind, 0, schema["properties"]["spec"]);
    ExpectSchema(kind, 1, schema["properties"]["status"]);

    const Json::Value object = MakeRandomObject(kind, seed);
    const auto message = (*loaded)->New();
    const absl::Status read = (*loaded)->FromJson(WriteJson(object), *message);
    ASSERT_TRUE(read.ok()) << read;
    for (const int part : {0, 1}) {
      const auto* field = message->GetDescriptor()->FindFieldByNumber(2 + part);
      ExpectMessage(kind, part, message->GetReflection()->GetMessage(*message, field),
                    object[part == 0 ? "spec" : "status"]);
    }

    const auto written = (*loaded)->ToJson(*message);
    ASSERT_TRUE(written.ok()) << written.status();
    const Json::Value sent = *ParseJson(*written);
    EXPECT_THAT(WriteJson(sent), StrEq(WriteJson(object)));
    EXPECT_THAT(WriteJson(apiserver::Schema(schema).Prune(sent)), StrEq(WriteJson(object)));
  });
  if (ran >= 100) {
    EXPECT_GT(renamed, ran);
    EXPECT_GT(spelt, 5 * ran);
  }
}

constexpr char kKind[] = R"(syntax = "proto2"; package x; import "api/mandate/options.proto";
import "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto";
message Widget {
  option (mandate.api.resource) = { group: "e.com" version: "v1" plural: "ws" scope: "Cluster" };
  optional k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;
  optional Spec spec = 2;
  optional Status status = 3;
)";

// The report on a Widget whose text ends with `rest`.
std::string Report(const std::string& rest) {
  return MakeDefinitionsOfText(StrCat(kKind, rest)).report;
}
std::string OfSpec(const std::string& fields) {
  return Report(StrCat("}\nmessage Status {}\nmessage Spec {\n", fields, "\n}\n"));
}

TEST(FieldNamesTest, ReportsAmbiguousNames) {
  EXPECT_EQ(OfSpec("optional string a_b = 1;\noptional string c = 2 [json_name = \"aB\"];"),
            "x.proto:12: error: a_b and c are both aB in JSON: rename one of them\n");
  EXPECT_EQ(OfSpec("optional string fooBar = 1;\noptional string foobar = 2;"),
            "x.proto:12: error: fooBar and foobar are fooBar and foobar in JSON, which differ only "
            "in case: rename one of them\n");
  // protobuf itself reports conflicts of the names that it makes.
  EXPECT_THAT(OfSpec("optional string foo_bar = 1;\noptional string fooBar = 2;"),
              HasSubstr("foo_bar and fooBar are both fooBar in JSON"));
  EXPECT_EQ(OfSpec("optional string foo_bar = 1;\noptional Inner fooBaz = 2;\n}\n"
                   "message Inner {\noptional string a = 1;\noptional string A = 2;"),
            "x.proto:16: error: a and A are a and A in JSON, which differ only in case: rename one "
            "of them\n");
}

TEST(FieldNamesTest, ReportsNamesThatAPathCannotExpress) {
  for (const char* name : {"a.b", "a b", "$ref", "a/b", "ü"}) {
    EXPECT_EQ(OfSpec(StrCat("optional string c = 1 [json_name = \"", name, "\"];")),
              StrCat("x.proto:11: error: c is \"", name,
                     "\" in JSON: a name must consist of letters, digits, - and _, or no path can "
                     "refer to it\n"));
  }
  EXPECT_EQ(OfSpec("optional string c = 1 [json_name = \"a-b_C9\"];"), "");
}

TEST(FieldNamesTest, ReportsNamesOfStandardFields) {
  EXPECT_EQ(Report("  optional string api_version = 4;\n}\nmessage Status {}\nmessage Spec {}\n"),
            "x.proto:3: error: apiVersion is a standard field of every object; remove the field\n");
  EXPECT_EQ(Report("  optional string type = 4 [json_name = \"kind\"];\n}\nmessage Status {}\n"
                   "message Spec {}\n"),
            "x.proto:3: error: kind is a standard field of every object; remove the field\n");
  std::string text = StrCat(kKind, "}\nmessage Status {}\nmessage Spec {}\n");
  text.replace(text.find("status = 3"), 10, "status = 3 [json_name = \"state\"]");
  EXPECT_EQ(MakeDefinitionsOfText(text).report,
            "x.proto:7: error: status is a standard field of every object and keeps its name in "
            "JSON: remove json_name\n");
}

// In options, fields have their names in JSON.
TEST(FieldNamesTest, OptionsUseNamesInJson) {
  const auto with = [](const std::string& columns) {
    std::string text = StrCat(kKind, "}\nmessage Status { optional int32 ready_replicas = 1; }\n",
                              "message Spec { optional int32 replica_count = 1; }\n");
    text.replace(text.find("scope:"), 0, columns);
    return MakeDefinitionsOfText(text);
  };
  EXPECT_THAT(with("scale { specReplicasPath: \".spec.replica_count\" statusReplicasPath: "
                   "\".status.readyReplicas\" } ")
                  .report,
              HasSubstr("scale.specReplicasPath .spec.replica_count does not exist: unknown field "
                        "\"replica_count\"; in JSON it is \"replicaCount\"\n"));
  const TestOutput output = with(
      "scale { specReplicasPath: \".spec.replicaCount\" statusReplicasPath: "
      "\".status.readyReplicas\" } ");
  EXPECT_EQ(output.report, "");
  ASSERT_EQ(output.definitions.size(), 1u);
  EXPECT_THAT(output.definitions[0].text, HasSubstr("replicaCount:"));
}

TEST(FieldNamesTest, MistakesShowTheNameInJson) {
  constexpr char kItem[] =
      "message Item {\n  optional string pod_name = 1 [(mandate.api.schema) = { required: true }];"
      "\n  optional string LOG = 2 [json_name = \"log_level\"];\n}\n";
  const struct {
    const char* field;
    const char* report;
  } cases[] = {
      {"repeated Item items = 1 [(mandate.api.schema) = { listType: \"map\" listMapKeys: "
       "\"pod_name\" }];",
       "listMapKeys: unknown field \"pod_name\"; in JSON it is \"podName\"\n"},
      {"optional Item item = 1 [(mandate.api.schema) = { default: \"{\\\"podName\\\": \\\"a\\\", "
       "\\\"logLevel\\\": \\\"b\\\"}\" }];",
       ": unknown field \"logLevel\"; in JSON it is \"log_level\"\n"},
      {"optional Item item = 1 [(mandate.api.schema) = { atLeastOneOf { fields: \"LOG_LEVEL\" } "
       "}];",
       "atLeastOneOf: unknown field \"LOG_LEVEL\"; in JSON it is \"log_level\"\n"},
      {"optional Item item = 1 [(mandate.api.schema) = { validations { rule: \"true\" fieldPath: "
       "\".pod_name\" } }];",
       "fieldPath .pod_name does not exist: unknown field \"pod_name\"; in JSON it is "
       "\"podName\"\n"},
      {"optional Item item = 1 [(mandate.api.schema) = { validations { rule: \"true\" fieldPath: "
       "\".pod\" } }];",
       "fieldPath .pod does not exist: unknown field \"pod\"\n"},
  };
  for (const auto& c : cases) {
    const std::string text =
        StrCat(kKind, "}\nmessage Status {}\nmessage Spec {\n  ", c.field, "\n}\n", kItem);
    EXPECT_THAT(MakeDefinitionsOfText(text).report, HasSubstr(c.report)) << c.field;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
