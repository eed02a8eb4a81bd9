#include "cmd/program/program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace mandate {
namespace {

constexpr rbac::Mandate kBaseMandate{.component = "base", .rules = {}};
constexpr rbac::Mandate kA{.component = "a", .rules = {}};

[[noreturn]] void Exit(std::vector<std::string> arguments) {
  unsetenv("KUBECONFIG");
  unsetenv("KUBERNETES_SERVICE_HOST");
  arguments.insert(arguments.begin(), "shop-operator");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::exit(RunProgram({.name = "shop-operator",
                        .description = "Runs shops.",
                        .version = "1.2.3",
                        .base_mandate = &kBaseMandate,
                        .components = [](auto) -> std::vector<ComponentSpec> { return {{&kA}}; }},
                       static_cast<int>(argv.size()), argv.data()));
}

class ProgramDeathTest : public testing::Test {
 protected:
  // A program must not have threads before RunProgram().
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProgramDeathTest, HelpAndVersionAreNoFailure) {
  EXPECT_EXIT(Exit({"--help"}), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(Exit({"--version"}), testing::ExitedWithCode(0), "");
}

TEST_F(ProgramDeathTest, AnInvalidFlagIsExitCodeTwoAndOneLine) {
  EXPECT_EXIT(Exit({"--nonsense"}), testing::ExitedWithCode(2),
              "^shop-operator: .*--nonsense.* \\(see shop-operator --help\\)\n$");
  EXPECT_EXIT(Exit({}), testing::ExitedWithCode(2), "^shop-operator: --kubeconfig: required");
}

}  // namespace
}  // namespace mandate
