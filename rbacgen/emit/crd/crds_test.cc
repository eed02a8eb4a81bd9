// The committed CRDs must be equal to those that the .proto files make.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "manager/core/strings.h"
#include "rbacgen/emit/crd/test_tree.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

constexpr char kFolder[] = "charts/mandate/crds";

std::vector<std::string> ProtosBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".proto") files.push_back(entry.path().string());
  }
  return files;
}

TEST(CrdsTest, CommittedFilesAreTheGeneratedOnes) {
  const TestOutput output = MakeDefinitionsOf(".", ProtosBelow("api"));
  EXPECT_EQ(output.report, "");
  std::map<std::string, std::string> generated;
  for (const Definition& d : output.definitions) generated[d.file] = d.text;
  std::map<std::string, std::string> committed;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const auto text = ReadWholeFile(entry.path().string());
    ASSERT_TRUE(text.ok()) << text.status();
    committed[entry.path().filename().string()] = *text;
  }
  EXPECT_GE(generated.size(), 2u);
  EXPECT_EQ(committed, generated) << "run `make manifests`";
}

}  // namespace
}  // namespace mandate::rbacgen
