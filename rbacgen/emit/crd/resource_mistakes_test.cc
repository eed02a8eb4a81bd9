// Mistakes in the options of a resource are reported with file and line.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "rbacgen/emit/crd/test_mistakes.h"

namespace mandate::rbacgen {
namespace {

TEST_P(MistakeTest, IsReported) { ExpectReported(); }

Mistake OfResource(std::string name, std::string resource, std::string report, int lines = 1) {
  return {std::move(name), With({{&Source::resource, std::move(resource)}}),
          StrCat("x.proto:4: error: Widget: ", report), lines};
}

// All required options of a resource.
constexpr char kRest[] = "group: \"e.com\" version: \"v1\" plural: \"w\" scope: \"Cluster\" ";

Mistake OfOption(std::string name, const std::string& options, std::string report, int lines = 1) {
  return OfResource(std::move(name), StrCat(kRest, options), std::move(report), lines);
}

INSTANTIATE_TEST_SUITE_P(
    Resource, MistakeTest,
    ::testing::Values(
        OfResource("NoGroup", "version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
                   "group \"\" must be a domain name, such as"),
        OfResource("KubernetesGroup",
                   "group: \"a.k8s.io\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
                   "group a.k8s.io is reserved for Kubernetes"),
        OfResource("Version",
                   "group: \"e.com\" version: \"V1\" plural: \"widgets\" scope: \"Cluster\"",
                   "version \"V1\" must be a version such as v1"),
        OfResource("Plural",
                   "group: \"e.com\" version: \"v1\" plural: \"Widgets\" scope: \"Cluster\"",
                   "plural \"Widgets\" must be"),
        OfResource("Scope",
                   "group: \"e.com\" version: \"v1\" plural: \"widgets\" scope: \"Global\"",
                   "scope \"Global\" must be one of Namespaced, Cluster"),
        OfOption("ShortName", "shortNames: \"w\"",
                 "shortNames \"w\" is already a name of this kind"),
        OfOption("ColumnType", "printerColumns { name: \"A\" type: \"text\" jsonPath: \".spec\" }",
                 "printer column A: type \"text\" must be one of"),
        OfOption(
            "ColumnPath",
            "printerColumns { name: \"A\" type: \"string\" jsonPath: \".spec.colour\" }",
            "printer column A: jsonPath .spec.colour does not exist: unknown field \"colour\""),
        OfOption("ColumnTwice",
                 "printerColumns { name: \"A\" type: \"string\" jsonPath: \".spec\" } "
                 "printerColumns { name: \"A\" type: \"string\" jsonPath: \".status\" }",
                 "two printer columns are named \"A\""),
        OfOption("ScalePath",
                 "scale { specReplicasPath: \".spec\" statusReplicasPath: \".status.n\" }",
                 "scale.specReplicasPath \".spec\" must be a path that begins with .spec.", 2),
        OfOption("Singular", "singular: \"Widget\"",
                 "singular \"Widget\" must consist of lower-case letters"),
        OfOption("SingularIsAName", "shortNames: \"widget\"",
                 "shortNames \"widget\" is already a name of this kind"),
        OfOption("ShortNameInCapitals", "shortNames: \"W\"",
                 "shortNames \"W\" must consist of lower-case letters"),
        OfOption("Category", "categories: \"Big\"",
                 "categories \"Big\" must consist of lower-case letters"),
        OfOption("EmptyWarning", "deprecated: true deprecationWarning: \"\"",
                 "deprecationWarning must be one line"),
        OfOption("LabelKey", "labels { key: \"a b\" value: \"c\" }",
                 "label \"a b\" must be a name such as"),
        OfOption("SelectorOfSpec",
                 "scale { specReplicasPath: \".spec.n\" statusReplicasPath: \".status.n\" "
                 "labelSelectorPath: \".spec.s\" }",
                 "scale.labelSelectorPath .spec.s does not exist: unknown field \"s\"", 3),
        OfOption("SelectableUnknown", "selectableFields: \".spec.colour\"",
                 "selectableFields .spec.colour does not exist"),
        OfOption("ColumnWithoutName", "printerColumns { type: \"string\" jsonPath: \".spec\" }",
                 "a printer column has no name"),
        OfOption("ColumnOfNothing",
                 "printerColumns { name: \"A\" type: \"string\" jsonPath: \".\" }",
                 "printer column A: jsonPath \".\" must be a path that begins with ."),
        OfOption("ConversionNoneVersions",
                 "conversion { strategy: \"None\" conversionReviewVersions: \"v1\" }",
                 "conversion: strategy None does not call a webhook"),
        OfResource("KubernetesItself",
                   "group: \"k8s.io\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
                   "group k8s.io is reserved for Kubernetes"),
        OfResource(
            "OldKubernetes",
            "group: \"kubernetes.io\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
            "group kubernetes.io is reserved for Kubernetes"),
        OfResource(
            "OldKubernetesGroup",
            "group: \"a.kubernetes.io\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
            "group a.kubernetes.io is reserved for Kubernetes"),
        OfResource("GroupOfOnePart",
                   "group: \"example\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"",
                   "group \"example\" must be a domain name, such as"),
        OfOption("DeprecationWarning", "deprecationWarning: \"gone\"",
                 "deprecationWarning is for a version that is deprecated"),
        OfOption("ColumnFormat",
                 "printerColumns { name: \"A\" type: \"string\" jsonPath: \".spec\" format: "
                 "\"uuid\" }",
                 "printer column A: format \"uuid\" must be one of int32"),
        OfOption("SelectorPath",
                 "scale { specReplicasPath: \".spec.n\" statusReplicasPath: \".status.n\" "
                 "labelSelectorPath: \".metadata.labels\" }",
                 "scale.labelSelectorPath \".metadata.labels\" must be a path that begins with", 3),
        OfOption("SelectableMetadata", "selectableFields: \".metadata.labels\"",
                 "selectableFields .metadata.labels: fields of metadata"),
        OfOption("SelectableAllOfMetadata", "selectableFields: \".metadata\"",
                 "selectableFields .metadata: fields of metadata"),
        OfOption("SelectableObject", "selectableFields: \".spec\"",
                 "selectableFields .spec must be a string, boolean or integer"),
        OfOption("Annotation", "annotations { key: \"a/b/c\" value: \"x\" }",
                 "annotation \"a/b/c\" must be a name such as"),
        OfOption("LabelValue", "labels { key: \"a\" value: \"b c\" }",
                 "label a: value \"b c\" is not a valid label value"),
        OfOption("ListKind", "listKind: \"Widget\"",
                 "listKind \"Widget\" must be a kind name of at most 63 letters"),
        Mistake{"LongListKind",
                With({{&Source::more,
                       StrCat("message K", std::string(59, 'k'),
                              " { option (mandate.api.resource) = { group: \"e.com\" version: "
                              "\"v1\" plural: \"ks\" scope: \"Cluster\" }; optional k8s.io."
                              "apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1; optional "
                              "Spec spec = 2; optional Status status = 3; }")}}),
                "kList\" must be a kind name of at most 63 letters"},
        OfOption("WarningOfLines", "deprecated: true deprecationWarning: \"a\\nb\"",
                 "deprecationWarning must be one line of at most 256 characters"),
        OfOption("ConversionStrategy", "conversion { strategy: \"Magic\" }",
                 "conversion: strategy \"Magic\" must be one of None, Webhook"),
        OfOption("ConversionNone", "conversion { strategy: \"None\" url: \"https://x\" }",
                 "conversion: strategy None does not call a webhook"),
        OfOption("ConversionOfNothing", "conversion { strategy: \"Webhook\" }",
                 "conversion: clientConfig must have either url or service"),
        OfOption("ConversionUrl", "conversion { strategy: \"Webhook\" url: \"http://x\" }",
                 "conversion: url \"http://x\" must be https://"),
        OfOption("ConversionNamespace",
                 "conversion { strategy: \"Webhook\" serviceName: \"hooks\" }",
                 "conversion: the service has no namespace"),
        OfOption("ConversionReviews",
                 "conversion { "
                 "strategy: \"Webhook\" url: \"https://x\" conversionReviewVersions: \"v2\" }",
                 "conversion: conversionReviewVersions must include v1"),
        OfOption("NotServed", "served: false", "no version is served")),
    [](const auto& info) { return info.param.name; });

TEST(ResourceMistakes, AcceptsResourcesThatTheApiServerAccepts) {
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

}  // namespace
}  // namespace mandate::rbacgen
