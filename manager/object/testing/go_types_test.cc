#include "manager/object/testing/go_types.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

TEST(GoTypesTest, ReadsFieldsOfStructs) {
  GoFields fields;
  ReadGoFields(R"(
type Door struct {
	metav1.TypeMeta `json:",inline"`
	// Embedded, but not flattened.
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	Frame  `json:",inline" protobuf:"bytes,2,req"`
	Colour *string  `json:"colour,omitempty" protobuf:"bytes,12,opt,name=colour"` // e.g. red
	Since  Time     `json:"since" protobuf:"bytes,3,opt,name=since"`
	Hinges map[string]Hinge `json:"hinges,omitzero" protobuf:"bytes,4,rep,name=hinges"`
	local  int
}

func (d Door) Other() string { return `json:"x" protobuf:"bytes,9,opt"` }
)",
               "k8s.io.api.house.v1", &fields);
  ASSERT_EQ(fields.size(), 5u);
  const auto at = [&](int number) { return fields.at({"k8s.io.api.house.v1.Door", number}); };
  EXPECT_EQ(at(1).json_name, "metadata");
  EXPECT_FALSE(at(1).pointer);
  EXPECT_EQ(at(2).json_name, "");
  EXPECT_TRUE(at(12).pointer);
  EXPECT_TRUE(at(12).omit_empty);
  EXPECT_EQ(at(3).json_name, "since");
  EXPECT_FALSE(at(3).omit_empty);
  EXPECT_TRUE(at(4).omit_empty);
}

TEST(GoTypesTest, ReadsTheModules) {
  const GoFields fields = ReadAllGoFields("../kubernetes");
  EXPECT_GT(fields.size(), 3500u);
  EXPECT_TRUE(fields.at({"k8s.io.api.core.v1.PodSpec", 4}).pointer);
  EXPECT_EQ(fields.at({"k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta", 1}).json_name, "name");
  const auto packages = ReadGroupPackages("../kubernetes");
  EXPECT_EQ(packages.at(""), "k8s.io.api.core");
  EXPECT_EQ(packages.at("internal.apiserver.k8s.io"), "k8s.io.api.apiserverinternal");
  EXPECT_GT(packages.size(), 20u);
}

}  // namespace
}  // namespace mandate
