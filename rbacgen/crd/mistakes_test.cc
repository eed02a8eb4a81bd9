// What is wrong in a .proto file is said with file and line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "manager/core/strings.h"
#include "rbacgen/crd/test_tree.h"

namespace mandate::rbacgen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A file whose kind Widget has these options and, from line 8, these fields of its spec. Line 12
// and on: `more`.
struct Source {
  std::string resource =
      "group: \"example.com\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"";
  std::string metadata = "optional k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;";
  std::string spec;
  std::string more;
  std::string syntax = "proto2";
  std::string object;

  std::string Text() const {
    return StrCat("syntax = \"", syntax, "\"; package x;\n",
                  "import \"api/mandate/options.proto\"; import "
                  "\"k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto\";\n",
                  "message Widget {\n", "  option (mandate.api.resource) = { ", resource, " };\n",
                  "  ", metadata, "\n", "  optional Spec spec = 2; optional Status status = 3;\n",
                  "} message Status {} message Spec {\n", "  ", object, "\n", "  ", spec, "\n",
                  "}\n", more);
  }
};

// The source with these parts changed.
Source With(std::initializer_list<std::pair<std::string Source::*, std::string>> parts) {
  Source source;
  for (const auto& [part, text] : parts) source.*part = text;
  return source;
}

std::string Field(const std::string& type, const std::string& options) {
  return StrCat(type, " f = 1 [(mandate.api.schema) = { ", options, " }];");
}

// Another kind, without spec and status.
constexpr char kBare[] =
    "message Bare { option (mandate.api.resource) = { group: \"e.com\" version: \"v1\" plural: "
    "\"bares\" scope: \"Cluster\" }; "
    "optional k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1; ";

struct Mistake {
  std::string name;
  Source source;
  std::string report;
  int lines = 1;  // of the report
};

void PrintTo(const Mistake& mistake, std::ostream* os) { *os << mistake.name; }

class MistakeTest : public ::testing::TestWithParam<Mistake> {};

TEST_P(MistakeTest, IsReported) {
  const std::string report = MakeDefinitionsOfText(GetParam().source.Text()).report;
  EXPECT_THAT(report, HasSubstr(GetParam().report));
  EXPECT_EQ(std::ranges::count(report, '\n'), GetParam().lines) << report;
}

Mistake OfResource(std::string name, std::string resource, std::string report, int lines = 1) {
  return {std::move(name), With({{&Source::resource, std::move(resource)}}),
          StrCat("x.proto:4: error: Widget: ", report), lines};
}

Mistake OfField(std::string name, const std::string& type, const std::string& options,
                std::string report, int lines = 1) {
  return {std::move(name), With({{&Source::spec, Field(type, options)}}),
          StrCat("x.proto:9: error: ", report), lines};
}

INSTANTIATE_TEST_SUITE_P(
    Resource, MistakeTest,
    ::testing::Values(
        OfResource("NoGroup", "version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
                   "group \"\" must be a domain name of yours"),
        OfResource("KubernetesGroup",
                   "group: \"a.k8s.io\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
                   "group a.k8s.io is Kubernetes' own"),
        OfResource("Version",
                   "group: \"e.com\" version: \"V1\" plural: \"widgets\" scope: \"Cluster\"",
                   "version \"V1\" must be such as v1"),
        OfResource("Plural",
                   "group: \"e.com\" version: \"v1\" plural: \"Widgets\" scope: \"Cluster\"",
                   "plural \"Widgets\" must be"),
        OfResource("Scope",
                   "group: \"e.com\" version: \"v1\" plural: \"widgets\" scope: \"Global\"",
                   "scope \"Global\" must be one of Namespaced, Cluster"),
        OfResource("ShortName",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "shortNames: \"w\"",
                   "shortNames \"w\" is a name already"),
        OfResource("ColumnType",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "printerColumns { name: \"A\" type: \"text\" jsonPath: \".spec\" }",
                   "printer column A: type \"text\" must be one of"),
        OfResource("ColumnPath",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "printerColumns { name: \"A\" type: \"string\" jsonPath: \".spec.colour\" }",
                   "printer column A: jsonPath .spec.colour leads nowhere: there is no \"colour\""),
        OfResource("ColumnTwice",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "printerColumns { name: \"A\" type: \"string\" jsonPath: \".spec\" } "
                   "printerColumns { name: \"A\" type: \"string\" jsonPath: \".status\" }",
                   "two printer columns are named \"A\""),
        OfResource("ScalePath",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "scale { specReplicasPath: \".spec\" statusReplicasPath: \".status.n\" }",
                   "scale.specReplicasPath \".spec\" must be a path that begins with .spec.", 2),
        OfResource("Singular",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "singular: \"Widget\"",
                   "singular \"Widget\" must be lower-case"),
        OfResource("SingularIsAName",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "shortNames: \"widget\"",
                   "shortNames \"widget\" is a name already"),
        OfResource("ShortNameInCapitals",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "shortNames: \"W\"",
                   "shortNames \"W\" must be lower-case letters"),
        OfResource("Category",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "categories: \"Big\"",
                   "categories \"Big\" must be lower case"),
        OfResource("EmptyWarning",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "deprecated: true deprecationWarning: \"\"",
                   "deprecationWarning must be one line"),
        OfResource("LabelKey",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "labels { key: \"a b\" value: \"c\" }",
                   "label \"a b\" must be a name such as"),
        OfResource("SelectorOfSpec",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "scale { specReplicasPath: \".spec.n\" statusReplicasPath: \".status.n\" "
                   "labelSelectorPath: \".spec.s\" }",
                   "scale.labelSelectorPath .spec.s leads nowhere: there is no \"s\"", 3),
        OfResource("SelectableUnknown",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "selectableFields: \".spec.colour\"",
                   "selectableFields .spec.colour leads nowhere"),
        OfResource("ColumnWithoutName",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "printerColumns { type: \"string\" jsonPath: \".spec\" }",
                   "a printer column lacks its name"),
        OfResource("ColumnOfNothing",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "printerColumns { name: \"A\" type: \"string\" jsonPath: \".\" }",
                   "printer column A: jsonPath \".\" must be a path that begins with ."),
        OfResource("ConversionNoneVersions",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "conversion { strategy: \"None\" conversionReviewVersions: \"v1\" }",
                   "conversion: strategy None calls no webhook"),
        OfResource("KubernetesItself",
                   "group: \"k8s.io\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
                   "group k8s.io is Kubernetes' own"),
        OfResource(
            "OldKubernetes",
            "group: \"kubernetes.io\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
            "group kubernetes.io is Kubernetes' own"),
        OfResource(
            "OldKubernetesGroup",
            "group: \"a.kubernetes.io\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
            "group a.kubernetes.io is Kubernetes' own"),
        OfResource("GroupOfOnePart",
                   "group: \"example\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
                   "group \"example\" must be a domain name of yours"),
        OfResource("DeprecationWarning",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "deprecationWarning: \"gone\"",
                   "deprecationWarning is for a version that is deprecated"),
        OfResource("ColumnFormat",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "printerColumns { name: \"A\" type: \"string\" jsonPath: \".spec\" format: "
                   "\"uuid\" }",
                   "printer column A: format \"uuid\" must be one of int32"),
        OfResource("SelectorPath",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "scale { specReplicasPath: \".spec.n\" statusReplicasPath: \".status.n\" "
                   "labelSelectorPath: \".metadata.labels\" }",
                   "scale.labelSelectorPath \".metadata.labels\" must be a path that begins with",
                   3),
        OfResource("SelectableMetadata",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "selectableFields: \".metadata.labels\"",
                   "selectableFields .metadata.labels: fields of metadata"),
        OfResource("SelectableAllOfMetadata",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "selectableFields: \".metadata\"",
                   "selectableFields .metadata: fields of metadata"),
        OfResource("SelectableObject",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "selectableFields: \".spec\"",
                   "selectableFields .spec must be a string, boolean or integer"),
        OfResource("Annotation",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "annotations { key: \"a/b/c\" value: \"x\" }",
                   "annotation \"a/b/c\" must be a name such as"),
        OfResource("LabelValue",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "labels { key: \"a\" value: \"b c\" }",
                   "label a: value \"b c\" is no label's value"),
        OfResource("ListKind",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "listKind: \"Widget\"",
                   "listKind \"Widget\" must be a kind's name, and another one"),
        Mistake{"LongListKind",
                With({{&Source::more,
                       StrCat("message K", std::string(59, 'k'),
                              " { option (mandate.api.resource) = { group: \"e.com\" version: "
                              "\"v1\" plural: \"ks\" scope: \"Cluster\" }; optional k8s.io."
                              "apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1; optional "
                              "Spec spec = 2; optional Status status = 3; }")}}),
                "kList\" must be a kind's name, and another one, of at most 63 letters"},
        OfResource("WarningOfLines",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "deprecated: true deprecationWarning: \"a\\nb\"",
                   "deprecationWarning must be one line of at most 256 characters"),
        OfResource("ConversionStrategy",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "conversion { strategy: \"Magic\" }",
                   "conversion: strategy \"Magic\" must be one of None, Webhook"),
        OfResource("ConversionNone",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "conversion { strategy: \"None\" url: \"https://x\" }",
                   "conversion: strategy None calls no webhook"),
        OfResource("ConversionOfNothing",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "conversion { strategy: \"Webhook\" }",
                   "conversion: clientConfig must have one of url and service"),
        OfResource("ConversionUrl",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "conversion { strategy: \"Webhook\" url: \"http://x\" }",
                   "conversion: url \"http://x\" must be https://"),
        OfResource("ConversionNamespace",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "conversion { strategy: \"Webhook\" serviceName: \"hooks\" }",
                   "conversion: the service lacks its namespace"),
        OfResource("ConversionReviews",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" conversion { "
                   "strategy: \"Webhook\" url: \"https://x\" conversionReviewVersions: \"v2\" }",
                   "conversion: conversionReviewVersions must have v1"),
        OfResource("NotServed",
                   "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" "
                   "served: false",
                   "no version is served")),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Message, MistakeTest,
    ::testing::Values(
        Mistake{"NoMetadata", With({{&Source::metadata, ""}}),
                "x.proto:3: error: Widget has option resource but no field metadata"},
        Mistake{"OtherMetadata", With({{&Source::metadata, "optional Status metadata = 1;"}}),
                "x.proto:5: error: metadata must be k8s.io."},
        Mistake{"NoSpec",
                With({{&Source::more,
                       "message Bare { option (mandate.api.resource) = { group: \"e.com\" version: "
                       "\"v1\" plural: \"bares\" scope: \"Cluster\" }; }"}}),
                "x.proto:11: error: Bare has option resource but no field spec", 3},
        Mistake{"Recursion", With({{&Source::spec, "optional Spec f = 1;"}}),
                "x.proto:9: error: f is of type x.Spec: it holds itself"},
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
                "x.proto:9: error: f cannot tell empty from absent"},
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
                "x.proto:8: error: atMostOneOf names \"a\", which is no field", 2},
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
                "x.proto:11: error: spec is every object's own and keeps its name in JSON"},
        Mistake{"RequiredMessage",
                With({{&Source::object, "option (mandate.api.object) = { required: true };"}}),
                "x.proto:8: error: required is for fields"},
        // The line is the option's, not where what it is about begins.
        Mistake{"LineOfAMessagesOption",
                With({{&Source::object,
                       "option (mandate.api.object) = { required: true };\n"
                       "option deprecated = true;"}}),
                "x.proto:8: error: required is for fields"},
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
                "x.proto:12: error: required is for fields"},
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

INSTANTIATE_TEST_SUITE_P(
    Schema, MistakeTest,
    ::testing::Values(
        OfField("TextOnNumber", "optional int32", "maxLength: 3",
                "maxLength is for a string; this is an integer"),
        OfField("NumberOnText", "optional string", "minimum: 3",
                "minimum is for an integer; this is a string"),
        OfField("ListOnText", "optional string", "maxItems: 3",
                "maxItems is for a list; this is a string"),
        OfField("ItemsOnText", "optional string", "items { maxLength: 3 }",
                "items is for a list; this is a string"),
        OfField("InItems", "repeated string", "items { minimum: 3 }",
                "items: minimum is for an integer; this is a string"),
        OfField("Bounds", "optional int32", "minimum: 3 maximum: 2",
                "minimum 3 is more than maximum 2"),
        OfField("Lengths", "optional string", "minLength: 3 maxLength: 2",
                "minLength 3 is more than maxLength 2"),
        OfField("Exclusive", "optional int32", "exclusiveMinimum: true", "exclusiveMinimum says"),
        OfField("EnumTwice", "optional string", "enum: \"a\" enum: \"a\"",
                "enum names \"a\" twice"),
        OfField("EnumOfNumber", "optional int32", "enum: \"a\"", "enum \"a\" is no integer"),
        OfField("DefaultIsNoJson", "optional string", "default: \"red\"", "default \"red\": "),
        OfField("DefaultOfOtherType", "optional int32", "default: \"\\\"1\\\"\"",
                "default \"\\\"1\\\"\": is JSON of type string; the field's type is integer"),
        OfField("ListType", "repeated string", "listType: \"bag\"",
                "listType \"bag\" must be one of map, set, atomic"),
        OfField("MapWithoutKeys", "repeated Status", "listType: \"map\"",
                "listType: \"map\" needs listMapKeys"),
        OfField("MapOfScalars", "repeated string", "listType: \"map\" listMapKeys: \"a\"",
                "listType: \"map\" is for a list of objects"),
        OfField("KeysWithoutMap", "repeated Status", "listMapKeys: \"a\"",
                "listMapKeys is for listType: \"map\""),
        OfField("KeyUnknown", "repeated Status", "listType: \"map\" listMapKeys: \"a\"",
                "listMapKeys \"a\" is no field of the items"),
        OfField("KeyOptional", "repeated k8s.io.apimachinery.pkg.apis.meta.v1.Condition",
                "listType: \"map\" listMapKeys: \"observedGeneration\"",
                "listMapKeys \"observedGeneration\" must be required"),
        OfField("SetOfObjects", "repeated Status", "listType: \"set\"",
                "listType: \"set\" is for scalars"),
        Mistake{"SetOfAtomicObjects",
                With({{&Source::spec, Field("repeated Atom", "listType: \"set\"")},
                      {&Source::more,
                       "message Atom { option (mandate.api.object) = { mapType: \"atomic\" }; "
                       "optional string a = 1; }"}}),
                "x.proto:9: error: listType: \"set\" is for scalars"},
        OfField("MapType", "optional Status", "mapType: \"loose\"",
                "mapType \"loose\" must be one of granular, atomic"),
        OfField("UniqueItems", "repeated string", "uniqueItems: true",
                "uniqueItems is refused by the API server"),
        OfField("UnknownFormat", "optional string", "format: \"colour\"",
                "format \"colour\" is one that the API server does not know"),
        OfField("FormatOfOtherType", "optional int32", "format: \"uuid\"",
                "format \"uuid\" is one that the API server does not know"),
        OfField("BadPattern", "optional string", "pattern: \"(\"",
                "pattern \"(\" is no RE2 expression: "),
        OfField("TypeBesideType", "optional string", "type: \"integer\"",
                "type is said by the field"),
        OfField("IntOrStringBesideType", "optional string", "intOrString: true",
                "intOrString is said by the type IntOrString"),
        OfField("UnknownType", "optional string", "schemaless: true type: \"text\"",
                "type \"text\" must be one of string, integer, boolean, object"),
        OfField("TwoTypes", "optional string",
                "schemaless: true type: \"string\" intOrString: true",
                "type and intOrString contradict each other"),
        OfField("VerbatimBesideType", "optional string", "verbatim: \"{}\"",
                "verbatim replaces the field's own type: add schemaless"),
        OfField("VerbatimAndType", "optional string",
                "schemaless: true type: \"string\" verbatim: \"{}\"",
                "verbatim contradicts type and intOrString"),
        OfField("VerbatimNoJson", "optional string", "schemaless: true verbatim: \"{\"",
                "verbatim \"{\": "),
        OfField("VerbatimNoObject", "optional string", "schemaless: true verbatim: \"[]\"",
                "verbatim is not a JSON object"),
        OfField("DefaultNotInEnum", "optional string", "enum: \"a\" default: \"\\\"b\\\"\"",
                "default \"\\\"b\\\"\": is not in enum"),
        OfField("DefaultNotInNumbers", "optional int32", "enum: \"1\" default: \"2\"",
                "default \"2\": is not in enum"),
        OfField("DefaultBelowMinimum", "optional int32", "minimum: 3 default: \"2\"",
                "default \"2\": is not within minimum 3"),
        OfField("DefaultOnExclusiveMaximum", "optional int32",
                "maximum: 3 exclusiveMaximum: true default: \"3\"",
                "default \"3\": is not within maximum 3"),
        OfField("DefaultNoMultiple", "optional int32", "multipleOf: 2 default: \"3\"",
                "default \"3\": is no multiple of 2"),
        OfField("DefaultTooLong", "optional string", "maxLength: 1 default: \"\\\"ab\\\"\"",
                "default \"\\\"ab\\\"\": has 2 characters, more than 1"),
        OfField("DefaultTooShort", "optional string", "minLength: 3 default: \"\\\"ab\\\"\"",
                "default \"\\\"ab\\\"\": has 2 characters, fewer than 3"),
        OfField("DefaultOfTooFewItems", "repeated int32", "minItems: 2 default: \"[1]\"",
                "default \"[1]\": has 1 items, fewer than 2"),
        OfField("DefaultOfTooManyItems", "repeated int32", "maxItems: 1 default: \"[1, 2]\"",
                "default \"[1, 2]\": has 2 items, more than 1"),
        OfField("DefaultOfTooFewProperties", "map<string, int32>",
                "minProperties: 1 default: \"{}\"",
                "default \"{}\": has 0 properties, fewer than 1"),
        OfField("DefaultOnExclusiveMinimum", "optional int32",
                "minimum: 3 exclusiveMinimum: true default: \"3\"",
                "default \"3\": is not within minimum 3"),
        OfField("DefaultAboveMaximum", "optional int32", "maximum: 3 default: \"4\"",
                "default \"4\": is not within maximum 3"),
        OfField("DefaultTooBig", "optional int64", "default: \"18446744073709551615\"",
                "default \"18446744073709551615\": is more than an int64 holds"),
        OfField("RuleMessage", "optional string",
                "validations { rule: \"true\" message: \"a\\nb\" }",
                "message \"a\\nb\" of a rule must be one line of text"),
        OfField("RuleWithoutMessage", "optional string",
                "validations { rule: \"true\" message: \"\" }",
                "message \"\" of a rule must be one line of text"),
        OfField("RulePathOfWords", "optional Status",
                "validations { rule: \"true\" fieldPath: \"a\" }",
                "fieldPath \"a\" must be a path such as .name"),
        OfField("RulePathOfMetadata", "optional Status",
                "validations { rule: \"true\" fieldPath: \".metadata.name\" }",
                "fieldPath .metadata.name is refused"),
        OfField("DefaultNoMatch", "optional string", "pattern: \"^a$\" default: \"\\\"ab\\\"\"",
                "default \"\\\"ab\\\"\": does not match pattern \"^a$\""),
        OfField("DefaultNull", "optional string", "default: \"null\"",
                "default \"null\": is null, and nullable is not said"),
        OfField("DefaultOfItems", "repeated int32", "items { maximum: 1 } default: \"[1, 2]\"",
                "default \"[1, 2]\" [1]: is not within maximum 1"),
        OfField("DefaultTwice", "repeated int32", "listType: \"set\" default: \"[1, 1]\"",
                "default \"[1, 1]\" [1]: is there twice"),
        OfField("DefaultOfValues", "map<string, int32>",
                "values { minimum: 1 } default: \"{\\\"a\\\": 0}\"",
                "default \"{\\\"a\\\": 0}\" .a: is not within minimum 1"),
        OfField("DefaultUnknownField", "optional Status", "default: \"{\\\"a\\\": 0}\"",
                "default \"{\\\"a\\\": 0}\" .a: is no field"),
        OfField("DefaultLacksAField", "optional k8s.io.apimachinery.pkg.apis.meta.v1.Condition",
                "default: \"{}\"", "default \"{}\" .lastTransitionTime: is required", 5),
        OfField("ImmutableItems", "repeated string", "items { immutable: true }",
                "immutable, or a rule with oldSelf, cannot be here"),
        OfField("EmptyRule", "optional string", "validations { rule: \" \" }",
                "a validation lacks its rule"),
        OfField("RuleReason", "optional string", "validations { rule: \"true\" reason: \"Bad\" }",
                "reason \"Bad\" must be one of FieldValueInvalid, "),
        OfField("RulePath", "optional Status", "validations { rule: \"true\" fieldPath: \".a\" }",
                "fieldPath .a leads nowhere"),
        OfField("RuleOfLines", "optional string", "validations { rule: \"true &&\\ntrue\" }",
                "a rule of several lines needs a message")),
    [](const auto& info) { return info.param.name; });

TEST(MistakesTest, DefaultsThatTheSchemaAllows) {
  const std::pair<std::string, std::string> fields[] = {
      {"optional string", "nullable: true default: \"null\""},
      {"optional string", "enum: \"a\" enum: \"b\" default: \"\\\"b\\\"\""},
      {"optional int32", "enum: \"1\" enum: \"2\" default: \"2\""},
      {"optional int32", "minimum: 3 maximum: 3 multipleOf: 3 default: \"3\""},
      {"optional string", "maxLength: 2 pattern: \"^a\" default: \"\\\"ab\\\"\""},
      {"repeated int32", "listType: \"set\" default: \"[1, 2]\""},
      {"optional string", "minLength: 2 maxLength: 2 default: \"\\\"ab\\\"\""},
      {"repeated int32", "minItems: 1 maxItems: 1 default: \"[1]\""},
      {"map<string, int32>", "minProperties: 1 maxProperties: 1 default: \"{\\\"a\\\": 1}\""},
      {"optional int64", "default: \"9223372036854775807\""},
      {"optional string", "validations { rule: \"true &&\\ntrue\" message: \"why\" }"},
      {"optional string", "validations { rule: \"true\" reason: \"FieldValueForbidden\" }"},
  };
  for (const auto& [type, options] : fields) {
    const Source source = With({{&Source::spec, Field(type, options)}});
    EXPECT_EQ(MakeDefinitionsOfText(source.Text()).report, "") << options;
  }
}

TEST(MistakesTest, ResourcesThatTheApiServerTakes) {
  const std::string rest = "version: \"v1\" plural: \"w\" scope: \"Cluster\" ";
  const std::string resources[] = {
      "group: \"a.k8s.io\" annotations { key: \"api-approved.kubernetes.io\" value: \"x\" }",
      StrCat("group: \"e.com\" deprecated: true deprecationWarning: \"", std::string(256, 'w'),
             "\""),
      "group: \"e.com\" selectableFields: \".spec.f\"",
      "group: \"e.com\" printerColumns { name: \"A\" type: \"integer\" format: \"int32\" "
      "jsonPath: \".spec.f\" }",
      "group: \"e.com\" shortNames: \"a\" shortNames: \"b\" categories: \"all\"",
  };
  for (const std::string& resource : resources) {
    const Source source = With(
        {{&Source::resource, StrCat(rest, resource)}, {&Source::spec, "optional int32 f = 1;"}});
    EXPECT_EQ(MakeDefinitionsOfText(source.Text()).report, "") << resource;
  }
}

TEST(MistakesTest, NoMistakeInTheSourceOfTheTables) {
  const TestOutput output = MakeDefinitionsOfText(Source{}.Text());
  EXPECT_EQ(output.report, "");
  ASSERT_EQ(output.definitions.size(), 1u);
  EXPECT_THAT(output.definitions[0].text, Not(HasSubstr("required:")));
}

}  // namespace
}  // namespace mandate::rbacgen
