#include "manager/memory_limit.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "manager/object/quantity.h"

namespace mandate {
namespace {

constexpr size_t kMi = size_t{1} << 20;

class MemoryLimitTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  const std::string root_ =
      testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(MemoryLimitTest, ReadsTheLimitOfAGroupNamespace) {
  Write("/proc/self/cgroup", "0::/");
  EXPECT_EQ(MemoryLimit(root_), std::nullopt);
  Write("/sys/fs/cgroup/memory.max", "max");
  EXPECT_EQ(MemoryLimit(root_), std::nullopt);
  Write("/sys/fs/cgroup/memory.max", "268435456");
  EXPECT_EQ(MemoryLimit(root_), 256 * kMi);
}

TEST_F(MemoryLimitTest, TakesTheLowestLimitOfTheGroupAndItsParents) {
  Write("/proc/self/cgroup", "0::/kubepods/pod1/container");
  Write("/sys/fs/cgroup/kubepods/memory.max", std::to_string(900 * kMi));
  Write("/sys/fs/cgroup/kubepods/pod1/memory.max", std::to_string(300 * kMi));
  Write("/sys/fs/cgroup/kubepods/pod1/container/memory.max", std::to_string(400 * kMi));
  EXPECT_EQ(MemoryLimit(root_), 300 * kMi);
}

TEST_F(MemoryLimitTest, VersionOne) {
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n0::/");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(MemoryLimit(root_), std::nullopt);
  // The container sees its own group at the mount.
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(128 * kMi));
  EXPECT_EQ(MemoryLimit(root_), 128 * kMi);
  Write("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", std::to_string(64 * kMi));
  EXPECT_EQ(MemoryLimit(root_), 64 * kMi);
}

TEST_F(MemoryLimitTest, IgnoresMissingAndInvalidFiles) {
  EXPECT_EQ(MemoryLimit(root_), std::nullopt);
  Write("/proc/self/cgroup", "nonsense\n::\n1:memory\n0::");
  EXPECT_EQ(MemoryLimit(root_), std::nullopt);
  Write("/proc/self/cgroup", "0::/");
  Write("/sys/fs/cgroup/memory.max", "lots");
  EXPECT_EQ(MemoryLimit(root_), std::nullopt);
}

TEST(DefaultMaxWatchBytesTest, IsAQuarterOfTheLimit) {
  EXPECT_EQ(DefaultMaxWatchBytes(std::nullopt), 1024 * kMi);
  EXPECT_EQ(DefaultMaxWatchBytes(256 * kMi), 64 * kMi);
}

// The chart's memory limit fits the default: one kind may grow to its bound and be listed again
// before the container is killed.
TEST(DefaultMaxWatchBytesTest, FitsTheChart) {
  const YAML::Node values = YAML::LoadFile("charts/mandate/values.yaml");
  const auto limit =
      Quantity::Parse(values["deployment"]["resources"]["limits"]["memory"].as<std::string>());
  ASSERT_TRUE(limit.ok()) << limit.status();
  const auto bytes = static_cast<size_t>(limit->nanos() / 1'000'000'000);
  constexpr size_t kItself = 64 * kMi;  // what the process takes without any object, and to spare
  EXPECT_LE(2 * DefaultMaxWatchBytes(bytes) + kItself, bytes);
  // It is the container's limit that decides: the chart sets no other.
  std::ifstream deployment("charts/mandate/templates/deployment.yaml");
  std::stringstream text;
  text << deployment.rdbuf();
  EXPECT_NE(text.str().find("--namespace="), std::string::npos);
  EXPECT_EQ(text.str().find("--max-watch-size"), std::string::npos);
  // Reconcilers, the Lease, events: manager.h, leader_elector.h, manager.cc.
  EXPECT_GE(values["deployment"]["terminationGracePeriodSeconds"].as<int>(), 30 + 10 + 2);
}

}  // namespace
}  // namespace mandate
