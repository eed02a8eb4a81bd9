#include "rbacgen/world/kubectl.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

// Makes a program from the shell script.
std::string Program(const std::string& name, const std::string& script) {
  const std::string path = StrCat(testing::TempDir(), "/", name);
  std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(Kubectl, PassesArgumentsAndReturnsTheOutput) {
  const std::string program = Program("echo", "for word; do echo \"$word\"; done");
  const struct {
    KubectlOptions options;
    std::string want;
  } cases[] = {
      {{.program = program, .kubeconfig = "", .context = ""}, "get\n-A b\n"},
      {{.program = program, .kubeconfig = "k", .context = ""}, "--kubeconfig=k\nget\n-A b\n"},
      {{.program = program, .kubeconfig = "", .context = "c"}, "--context=c\nget\n-A b\n"},
      {{.program = program, .kubeconfig = "k", .context = "c"},
       "--kubeconfig=k\n--context=c\nget\n-A b\n"},
  };
  for (const auto& c : cases) {
    const auto output = Kubectl(c.options, {"get", "-A b"});
    ASSERT_TRUE(output.ok()) << output.status();
    EXPECT_EQ(*output, c.want);
  }
}

TEST(Kubectl, ReadsLongOutput) {
  const auto output = Kubectl({.program = Program("much", "head -c 300000 /dev/zero | tr '\\0' x"),
                               .kubeconfig = "",
                               .context = ""},
                              {});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, std::string(300000, 'x'));
}

TEST(Kubectl, TruncatedOutputIsAnError) {
  const std::pair<std::string, std::string> cases[] = {{"an exit code", "echo half; exit 3"},
                                                       {"a signal", "echo half; kill -9 $$"}};
  for (const auto& [name, script] : cases) {
    const std::string program = Program("fails", script);
    const auto output = Kubectl({.program = program, .kubeconfig = "", .context = ""}, {});
    EXPECT_EQ(output.status(),
              absl::UnavailableError(StrCat(program,
                                            " failed; its message is above. Name the cluster with "
                                            "--kubeconfig=FILE or --context=NAME")))
        << name;
  }
  const auto none = Kubectl({.program = "/no/such/kubectl", .kubeconfig = "", .context = ""}, {});
  EXPECT_TRUE(absl::IsNotFound(none.status())) << none.status();
}

TEST(Kubectl, ClosesItsDescriptors) {
  const KubectlOptions good = {
      .program = Program("good", "echo x"), .kubeconfig = "", .context = ""};
  const KubectlOptions none = {.program = "/no/such/kubectl", .kubeconfig = "", .context = ""};
  const ptrdiff_t before = OpenDescriptors();
  EXPECT_TRUE(Kubectl(good, {}).ok());
  EXPECT_FALSE(Kubectl(none, {}).ok());
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace mandate::rbacgen
