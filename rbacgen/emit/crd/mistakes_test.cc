// Mistakes in the messages of a .proto file are reported with file and line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rbacgen/emit/crd/test_mistakes.h"

namespace mandate::rbacgen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_P(MistakeTest, IsReported) { ExpectReported(); }

// A second kind, without spec and status.
constexpr char kBare[] =
    "message Bare { option (mandate.api.resource) = { group: \"e.com\" version: \"v1\" plural: "
    "\"bares\" scope: \"Cluster\" }; "
    "optional k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1; ";

INSTANTIATE_TEST_SUITE_P(
    Message, MistakeTest,
    ::testing::Values(
        Mistake{"NoMetadata", With({{&Source::metadata, ""}}),
                "x.proto:3: error: Widget has option resource but no field metadata: add it; the "
                "messages of spec and status may be empty"},
        Mistake{"OtherMetadata", With({{&Source::metadata, "optional Status metadata = 1;"}}),
                "x.proto:5: error: metadata must be k8s.io."},
        Mistake{"NoSpec",
                With({{&Source::more,
                       "message Bare { option (mandate.api.resource) = { group: \"e.com\" version: "
                       "\"v1\" plural: \"bares\" scope: \"Cluster\" }; }"}}),
                "x.proto:11: error: Bare has option resource but no field spec: add it", 3},
        Mistake{"Recursion", With({{&Source::spec, "optional Spec f = 1;"}}),
                "x.proto:9: error: f is of type x.Spec: it contains itself"},
        Mistake{"Float", With({{&Source::spec, "optional double f = 1;"}}),
                "x.proto:9: error: f is of type float"},
        Mistake{"Unsigned", With({{&Source::spec, "optional uint32 f = 1;"}}),
                "x.proto:9: error: f is of type uint32: use int32"},
        Mistake{"Enum",
                With({{&Source::spec, "optional E f = 1;"}, {&Source::more, "enum E { A = 0; }"}}),
                "x.proto:9: error: f is of type enum: use string"},
        Mistake{"Required", With({{&Source::spec, "required string f = 1;"}}),
                "x.proto:9: error: f is `required` for protobuf"},
        Mistake{"NoPresence", With({{&Source::spec, "string f = 1;"}, {&Source::syntax, "proto3"}}),
                "x.proto:9: error: f cannot distinguish empty from absent"},
        Mistake{"MapKeys", With({{&Source::spec, "map<int32, string> f = 1;"}}),
                "x.proto:9: error: the keys of a map must be strings"},
        Mistake{"GoMarker",
                With({{&Source::spec,
                       "\n// +kubebuilder:validation:Minimum=1\noptional int32 f = 1;"}}),
                "x.proto:11: error: +kubebuilder:validation:Minimum=1 is a marker for Go"},
        Mistake{"OneOfUnknown",
                With({{&Source::object,
                       "option (mandate.api.object) = { atMostOneOf { fields: \"a\" fields: "
                       "\"b\" } };"}}),
                "x.proto:8: error: atMostOneOf: unknown field \"a\"", 2},
        Mistake{"OneOfOne",
                With({{&Source::object,
                       "option (mandate.api.object) = { exactlyOneOf { fields: \"a\" } };"}}),
                "x.proto:8: error: exactlyOneOf names fewer than two fields"},
        Mistake{"OneOfNone",
                With({{&Source::object, "option (mandate.api.object) = { atLeastOneOf {} };"}}),
                "x.proto:8: error: atLeastOneOf names no field"},
        Mistake{"OneOfRequired",
                With({{&Source::object,
                       "option (mandate.api.object) = { atLeastOneOf { fields: \"f\" } };"},
                      {&Source::spec, Field("optional string", "required: true")}}),
                "x.proto:8: error: atLeastOneOf names \"f\", which is required and so always set"},
        Mistake{"SpecIsNoMessage",
                With({{&Source::more,
                       StrCat(kBare, "optional string spec = 2; optional Status status = 3; }")}}),
                "x.proto:11: error: spec must be a message"},
        Mistake{"StatusIsAList",
                With({{&Source::more,
                       StrCat(kBare, "optional Spec spec = 2; repeated Status status = 3; }")}}),
                "x.proto:11: error: status must be a message"},
        Mistake{"SpecOfAnotherName",
                With({{&Source::more, StrCat(kBare,
                                             "optional Spec spec = 2 [json_name = \"s\"]; "
                                             "optional Status status = 3; }")}}),
                "x.proto:11: error: spec is a standard field of every object and keeps its name in "
                "JSON"},
        Mistake{"RequiredMessage",
                With({{&Source::object, "option (mandate.api.object) = { required: true };"}}),
                "x.proto:8: error: required applies to fields"},
        // The line is that of the option, not that of the message.
        Mistake{"LineOfAMessagesOption",
                With({{&Source::object,
                       "option (mandate.api.object) = { required: true };\n"
                       "option deprecated = true;"}}),
                "x.proto:8: error: required applies to fields"},
        Mistake{"LineOfAFieldsOption",
                With({{&Source::spec,
                       "optional int32 e = 1;\noptional int32 f = 2 [\n"
                       "(mandate.api.schema) = { maxLength: 3 }];"}}),
                "x.proto:11: error: maxLength is for a string"},
        Mistake{"LineOfANestedMessagesOption",
                With({{&Source::spec, "optional Outer.Inner f = 1;"},
                      {&Source::more,
                       "message Outer { message First {} message Inner {\n"
                       "option (mandate.api.object) = { required: true };\n"
                       "option deprecated = true; } }"}}),
                "x.proto:12: error: required applies to fields"},
        Mistake{"LineOfANestedMessagesFieldsOption",
                With({{&Source::spec, "optional Outer.Inner f = 1;"},
                      {&Source::more,
                       "message Outer { message First {} message Inner {\n"
                       "optional int32 g = 1 [\n(mandate.api.schema) = { maxLength: 3 }]; } }"}}),
                "x.proto:13: error: maxLength is for a string"},
        Mistake{"Syntax", With({{&Source::spec, "optional strin f = 1;"}}),
                "x.proto:9: error: \"strin\" is not defined"},
        Mistake{"UnknownOption", With({{&Source::spec, Field("optional string", "maxLen: 1")}}),
                "x.proto:9: error: Error while parsing option value"},
        Mistake{"TwoVersionsOneStored",
                With({{&Source::more,
                       "message W2 { message Widget { option (mandate.api.resource) = { group: "
                       "\"example.com\" version: \"v2\" plural: \"widgets\" scope: \"Cluster\" }; "
                       "optional k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1; "
                       "optional Spec spec = 2; optional Status status = 3; } }"}}),
                "x.proto:11: error: Widget: 0 of its 2 versions are storageVersion: true"}),
    [](const auto& info) { return info.param.name; });

TEST(MistakesTest, TheSourceOfTheTablesIsValid) {
  const TestOutput output = MakeDefinitionsOfText(Source{}.Text());
  EXPECT_EQ(output.report, "");
  ASSERT_EQ(output.definitions.size(), 1u);
  EXPECT_THAT(output.definitions[0].text, Not(HasSubstr("required:")));
}

}  // namespace
}  // namespace mandate::rbacgen
