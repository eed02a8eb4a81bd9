#include "rbacgen/emit/crd/definition.h"

#include <gtest/gtest.h>

#include "manager/core/strings.h"
#include "rbacgen/emit/crd/test_tree.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

constexpr char kTestdata[] = "rbacgen/emit/crd/testdata";

std::string Golden(const std::string& file = "example.com_widgets.yaml") {
  const auto text = ReadWholeFile(StrCat(kTestdata, "/", file));
  return text.ok() ? *text : std::string(text.status().ToString());
}

TEST(DefinitionTest, AllOptionsMakeTheGoldenFile) {
  const TestOutput output =
      MakeDefinitionsOf(kTestdata, {"example/v1/widget.proto", "example/v1beta1/widget.proto"});
  EXPECT_EQ(output.report, "");
  ASSERT_EQ(output.definitions.size(), 1u);
  EXPECT_EQ(output.definitions[0].file, "example.com_widgets.yaml");
  EXPECT_EQ(output.definitions[0].text, Golden());
}

TEST(DefinitionTest, ConversionWebhookMakesTheGoldenFile) {
  const TestOutput output =
      MakeDefinitionsOf(kTestdata, {"example/v1/gadget.proto", "example/v1beta1/gadget.proto"});
  EXPECT_EQ(output.report, "");
  ASSERT_EQ(output.definitions.size(), 1u);
  EXPECT_EQ(output.definitions[0].file, "example.com_gadgets.yaml");
  EXPECT_EQ(output.definitions[0].text, Golden("example.com_gadgets.yaml"));
}

TEST(DefinitionTest, DoesNotDependOnTheOrderOfFiles) {
  const TestOutput output =
      MakeDefinitionsOf(kTestdata, {"example/v1beta1/widget.proto", "example/v1/widget.proto"});
  ASSERT_EQ(output.definitions.size(), 1u);
  EXPECT_EQ(output.definitions[0].text, Golden());
}

TEST(DefinitionTest, IgnoresMessagesWithoutTheOption) {
  const TestOutput output = MakeDefinitionsOfText("syntax = \"proto2\";\nmessage Widget {}\n");
  EXPECT_EQ(output.report, "");
  EXPECT_TRUE(output.definitions.empty());
}

}  // namespace
}  // namespace mandate::rbacgen
