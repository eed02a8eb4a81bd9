#include "rbacgen/emit/crd/kubernetes_markers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mandate::rbacgen {
namespace {

using ::testing::ElementsAre;

TEST(KubernetesMarkersTest, RequiredUnlessOptional) {
  EXPECT_TRUE(ReadKubernetesMarkers({}).required());
  EXPECT_TRUE(ReadKubernetesMarkers({"required"}).required());
  EXPECT_TRUE(ReadKubernetesMarkers({"featureGate=X"}).required());
  EXPECT_FALSE(ReadKubernetesMarkers({"optional"}).required());
  EXPECT_FALSE(ReadKubernetesMarkers({"k8s:optional"}).required());
  // The second marker only mentions another marker.
  EXPECT_FALSE(
      ReadKubernetesMarkers({"optional", "k8s:alpha(since: \"1.36\")=+k8s:required"}).required());
}

TEST(KubernetesMarkersTest, ReadsTheValuesOfMarkers) {
  const mandate::api::Schema schema = ReadKubernetesMarkers({
      "kubebuilder:validation:Pattern=`^a\\.b$`",
      "kubebuilder:validation:MinLength=1",
      "kubebuilder:validation:MaxLength=1024",
      "kubebuilder:validation:Minimum=0",
      "kubebuilder:validation:Enum=True;False;Unknown",
      "listType=map",
      "listMapKey=type",
      "listMapKey=port",
      "structType=atomic",
      "default=\"TCP\"",
  });
  EXPECT_EQ(schema.pattern(), "^a\\.b$");
  EXPECT_EQ(schema.minlength(), 1);
  EXPECT_EQ(schema.maxlength(), 1024);
  EXPECT_TRUE(schema.has_minimum());
  EXPECT_THAT(schema.enum_(), ElementsAre("True", "False", "Unknown"));
  EXPECT_EQ(schema.listtype(), "map");
  EXPECT_THAT(schema.listmapkeys(), ElementsAre("type", "port"));
  EXPECT_EQ(schema.maptype(), "atomic");
  EXPECT_EQ(schema.default_(), "\"TCP\"");
}

TEST(KubernetesMarkersTest, IgnoresDefaultsThatAreGoConstants) {
  EXPECT_FALSE(ReadKubernetesMarkers({"default=ref(Constant)"}).has_default_());
}

TEST(KubernetesMarkersTest, RecognisesSchemaMarkers) {
  EXPECT_TRUE(IsSchemaMarker("kubebuilder:validation:Anything=1"));
  EXPECT_TRUE(IsSchemaMarker("optional"));
  EXPECT_TRUE(IsSchemaMarker("listType=map"));
  EXPECT_FALSE(IsSchemaMarker("optionally"));
  EXPECT_FALSE(IsSchemaMarker("1 is a number"));
}

}  // namespace
}  // namespace mandate::rbacgen
