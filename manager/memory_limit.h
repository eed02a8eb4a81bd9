// The memory that the process may use, and the bounds that follow from it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace mandate {

// The limit of the process's control group or of one above it, whichever is the least: memory.max
// (cgroup v2) or memory.limit_in_bytes (v1), which is what a container's resources.limits.memory
// becomes. nullopt: no limit, or none that can be read. `root` is where /proc and /sys are.
std::optional<size_t> MemoryLimit(const std::string& root = "");

// The default of ManagerOptions::max_watch_bytes: a quarter of the memory limit. A watch that lists
// again holds both states, and the process needs memory for other data. Without a memory limit it
// is 1 GiB.
size_t DefaultMaxWatchBytes(std::optional<size_t> limit);

}  // namespace mandate
