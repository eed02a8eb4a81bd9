#include "manager/memory_limit.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "absl/strings/numbers.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// The value of version 1 without a limit: the largest multiple of a page.
constexpr uint64_t kUnlimited = uint64_t{1} << 60;
constexpr size_t kWithoutLimit = size_t{1} << 30;

// The smallest limit in files of this name, from the group's folder up to the mount.
std::optional<size_t> LeastAbove(const std::string& mount, std::string group, const char* file) {
  std::optional<size_t> least;
  while (true) {
    std::ifstream in(StrCat(mount, group, "/", file));
    std::string text;
    uint64_t bytes;
    if (std::getline(in, text) && absl::SimpleAtoi(text, &bytes) && bytes < kUnlimited) {
      least = std::min(least.value_or(bytes), size_t{bytes});
    }
    if (group.empty()) return least;
    group.resize(group.rfind('/'));
  }
}

// Whether the comma-separated list has "memory".
bool HasMemory(std::string_view controllers) {
  return StrCat(",", controllers, ",").find(",memory,") != std::string::npos;
}

}  // namespace

std::optional<size_t> MemoryLimit(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::optional<size_t> least;
  std::ifstream groups(root + "/proc/self/cgroup");
  // "HIERARCHY:CONTROLLERS:PATH"; version 2 is "0::PATH".
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos || line[second + 1] != '/') continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    const bool unified = controllers.empty();
    if (!unified && !HasMemory(controllers)) continue;
    const auto found = unified ? LeastAbove(mount, path, "memory.max")
                               : LeastAbove(mount + "/memory", path, "memory.limit_in_bytes");
    if (found.has_value()) least = std::min(least.value_or(*found), *found);
  }
  return least;
}

size_t DefaultMaxWatchBytes(std::optional<size_t> limit) {
  return limit.has_value() ? *limit / 4 : kWithoutLimit;
}

}  // namespace mandate
