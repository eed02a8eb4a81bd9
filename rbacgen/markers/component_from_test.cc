#include "rbacgen/markers/component_from.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;

TEST(ComponentFromTest, NamesComponentsAfterFoldersAndFiles) {
  const struct {
    std::string file;
    std::string of_dir;
    std::string of_file;
  } cases[] = {
      {"internal/controller/memcached/reconciler.go", "memcached", "reconciler"},
      {"internal/controller/memcached_controller.go", "controller", "memcached"},
      {"internal/controller/My_Kind_reconciler.go", "controller", "my-kind"},
      {"/a/webhook/pod_webhook.rs", "webhook", "pod"},
      {"a/../b/x.cc", "b", "x"},
      {"a/_Pod.Cleaner_/x.y.cc", "pod-cleaner", "x-y"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ComponentOfFile(c.file, ComponentFrom::kDir).value(), c.of_dir) << c.file;
    EXPECT_EQ(ComponentOfFile(c.file, ComponentFrom::kFile).value(), c.of_file) << c.file;
    EXPECT_EQ(ComponentOfFile(c.file, ComponentFrom::kMarker).value(), "") << c.file;
  }
  EXPECT_NE(ComponentOfFile("main.go", ComponentFrom::kDir).value(), "") << "of where we are";
}

TEST(ComponentFromTest, RejectsInvalidNames) {
  const auto text = [](const std::string& file, ComponentFrom from) {
    return std::string(ComponentOfFile(file, from).status().message());
  };
  EXPECT_THAT(text("a/base/x.go", ComponentFrom::kDir), HasSubstr("the manager's own identity"));
  EXPECT_THAT(text("a/ü/x.go", ComponentFrom::kDir), HasSubstr("is not a valid component name"));
  EXPECT_THAT(text("/x.go", ComponentFrom::kDir), HasSubstr("name of its folder, \"\""));
  EXPECT_THAT(text("_controller.go", ComponentFrom::kFile), HasSubstr("name of its file, \"\""));
  EXPECT_THAT(text("a/" + std::string(64, 'a') + "/x.go", ComponentFrom::kDir),
              HasSubstr("+mandate:component:name=NAME"));
}

}  // namespace
}  // namespace mandate::rbacgen
