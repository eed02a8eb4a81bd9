#include "cmd/mandate-manager/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr rbac::Mandate kA{.component = "a", .rules = {}};
constexpr rbac::Mandate kB{.component = "b", .rules = {}};

std::vector<ComponentSpec> Known() { return {{&kA, {}}, {&kB, {}}}; }

class FlagsTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    path_ = StrCat(testing::TempDir(), "/kubeconfig");
    std::ofstream(path_) << R"(
apiVersion: v1
kind: Config
current-context: x
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==}}]
users: [{name: u, user: {tokenFile: /nonexistent/token}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: from-context}}]
)";
  }

  absl::StatusOr<Flags> Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "mandate-manager");
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    return ParseFlags(static_cast<int>(argv.size()), argv.data(), Known());
  }

  std::string path_;
};

TEST_F(FlagsTest, DefaultsAreAControllerManagers) {
  const auto flags = Parse({"--kubeconfig=" + path_});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->components.size(), 2u);
  EXPECT_EQ(flags->manager.ns, "from-context");
  EXPECT_TRUE(flags->manager.leader_elect);
  EXPECT_EQ(flags->manager.identity_mode, IdentityMode::kToken);
  EXPECT_EQ(flags->manager.guard, GuardMode::kEnforce);
  EXPECT_FALSE(flags->manager.create_service_accounts);
  EXPECT_THAT(flags->manager.health_address, HasSubstr("127.0.0.1"));
  EXPECT_THAT(flags->manager.metrics_address, HasSubstr("127.0.0.1"));
}

TEST_F(FlagsTest, WhatIsSaidIsTaken) {
  const auto flags = Parse({"--kubeconfig", path_, "--namespace=elsewhere", "--controllers=*,-a",
                            "--leader-elect=false", "--identity-mode=single", "--guard-mode=warn",
                            "--create-service-accounts", "--health-address=0",
                            "--metrics-address=[::1]:9", "-v=3"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  ASSERT_EQ(flags->components.size(), 1u);
  EXPECT_EQ(flags->components[0].mandate->component, "b");
  EXPECT_EQ(flags->manager.ns, "elsewhere");
  EXPECT_FALSE(flags->manager.leader_elect);
  EXPECT_EQ(flags->manager.identity_mode, IdentityMode::kSingle);
  EXPECT_EQ(flags->manager.guard, GuardMode::kWarn);
  EXPECT_TRUE(flags->manager.create_service_accounts);
  EXPECT_EQ(flags->manager.health_address, "0");
  EXPECT_EQ(flags->manager.metrics_address, "[::1]:9");
}

TEST_F(FlagsTest, MistakesAreOneLineThatNamesThem) {
  struct Row {
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::string kubeconfig = "--kubeconfig=" + path_;
  const Row rows[] = {
      {{"--no-such-flag"}, "--no-such-flag"},
      {{kubeconfig, "stray"}, "stray"},
      {{kubeconfig, "--controllers=c"}, "--controllers: \"c\" is not one of a, b"},
      {{kubeconfig, "--controllers=-a,-b"}, "--controllers: nothing is left to run"},
      {{kubeconfig, "--identity-mode=root"}, "--identity-mode: "},
      {{kubeconfig, "--guard=maybe"}, "--guard-mode: "},
      {{kubeconfig, "-v=9"}, "9"},
      {{kubeconfig, "--workers=0"}, "--workers"},
      {{"--kubeconfig=/nonexistent/kubeconfig"}, "/nonexistent/kubeconfig"},
      {{}, "--kubeconfig: required, as $KUBECONFIG is not set"},
  };
  for (const Row& row : rows) {
    const auto flags = Parse(row.arguments);
    ASSERT_FALSE(flags.ok()) << row.says;
    const std::string message(flags.status().message());
    EXPECT_THAT(message, HasSubstr(row.says));
    EXPECT_THAT(message, HasSubstr("mandate-manager --help"));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST_F(FlagsTest, HelpNamesEveryController) {
  testing::internal::CaptureStdout();
  const auto flags = Parse({"--help"});
  const std::string help = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_TRUE(flags->exit_now);
  EXPECT_THAT(help, HasSubstr("Usage: mandate-manager [OPTIONS]"));
  EXPECT_THAT(help, HasSubstr("Known: a, b"));
}

TEST(SelectControllersTest, ANameDecidesBeforeTheStar) {
  const std::vector<std::string> known = {"a", "b", "c"};
  EXPECT_THAT(*SelectControllers({"*"}, known), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*SelectControllers({"*", "-b"}, known), ElementsAre("a", "c"));
  EXPECT_THAT(*SelectControllers({"-b", "*"}, known), ElementsAre("a", "c"));
  EXPECT_THAT(*SelectControllers({"c", "a"}, known), ElementsAre("a", "c"));
  EXPECT_THAT(*SelectControllers({"a", "-a", "b"}, known), ElementsAre("a", "b"));
  EXPECT_FALSE(SelectControllers({"-a"}, known).ok());
  EXPECT_FALSE(SelectControllers({}, known).ok());
}

}  // namespace
}  // namespace mandate
