#include "rbacgen/markers/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace mandate::rbacgen {

void InParallel(size_t count, size_t threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> more;
  for (size_t i = 1; i < std::min(count, threads); ++i) more.emplace_back(run);
  run();
}

size_t UsefulThreads() { return std::min(std::thread::hardware_concurrency(), 4u); }

}  // namespace mandate::rbacgen
