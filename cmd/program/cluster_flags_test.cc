#include "cmd/program/cluster_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::HasSubstr;

constexpr rbac::Mandate kMirror = {.component = "mirror", .rules = {}};

class ClusterFlagsTest : public testing::Test {
 protected:
  ClusterFlagsTest() {
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
  }

  static std::string Kubeconfig(const std::string& name) {
    const std::string path = StrCat(testing::TempDir(), "/", name);
    std::ofstream(path) << R"(
apiVersion: v1
kind: Config
current-context: x
clusters: [{name: c, cluster: {server: "https://)"
                        << name << R"(:6443",
    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==}}]
users: [{name: u, user: {tokenFile: /nonexistent/token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
)";
    return path;
  }

  absl::Status Resolve(const std::vector<std::string>& further) {
    CLI::App app;
    ClusterFlags flags;
    DeclareClusters(app, flags);
    std::vector<std::string> arguments = {StrCat("--kubeconfig=", Kubeconfig("own"))};
    for (const std::string& value : further) {
      arguments.push_back(StrCat("--cluster-kubeconfigs=", value));
    }
    std::ranges::reverse(arguments);  // CLI11 reads them from the back
    app.parse(std::move(arguments));
    options_ = {};
    return ResolveClusters(flags, components_, options_);
  }
  std::string Refused(const std::vector<std::string>& further) {
    const absl::Status status = Resolve(further);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  std::vector<ComponentSpec> components_ = {{.mandate = &kMirror, .cluster = "leaf"}};
  ManagerOptions options_;
};

TEST_F(ClusterFlagsTest, EachClusterHasAKubeconfig) {
  ASSERT_EQ(Resolve({StrCat("leaf=", Kubeconfig("leaf"), ",far=", Kubeconfig("far"))}),
            absl::OkStatus());
  EXPECT_EQ(options_.cluster.endpoint.server, "https://own:6443");
  ASSERT_EQ(options_.clusters.size(), 2u);
  EXPECT_EQ(options_.clusters[0].name, "leaf");
  EXPECT_EQ(options_.clusters[0].endpoint.server, "https://leaf:6443");
  EXPECT_EQ(options_.clusters[1].name, "far");
  EXPECT_EQ(options_.clusters[1].endpoint.server, "https://far:6443");
}

TEST_F(ClusterFlagsTest, AComponentsClusterMustBeGiven) {
  EXPECT_THAT(Refused({}),
              HasSubstr("--cluster-kubeconfigs: component mirror is in cluster \"leaf\"; add "
                        "leaf=FILE, or disable it with --controllers=*,-mirror"));
  components_.clear();
  EXPECT_EQ(Resolve({}), absl::OkStatus());
}

TEST_F(ClusterFlagsTest, ErrorsNameTheFlag) {
  for (const char* value : {"leaf", "leaf=", "=file", "/etc/kubeconfig"}) {
    EXPECT_THAT(Refused({value}),
                HasSubstr(StrCat("--cluster-kubeconfigs: \"", value, "\" is not of the form")));
  }
  EXPECT_THAT(Refused({"leaf=/nonexistent"}), HasSubstr("--cluster-kubeconfigs: "));
}

}  // namespace
}  // namespace mandate
