#include "hack/bench/ours/report.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

#include "manager/core/strings.h"

namespace mandate::bench {

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double MemoryBytes(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(field) || line.size() <= field.size() || line[field.size()] != ':') {
      continue;
    }
    std::istringstream value(line.substr(field.size() + 1));
    double kilobytes = 0;
    value >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

void Report(std::string_view metric, double value, std::string_view unit) {
  std::printf("{\"metric\": \"%.*s\", \"value\": %.9g, \"unit\": \"%.*s\"}\n",
              static_cast<int>(metric.size()), metric.data(), value, static_cast<int>(unit.size()),
              unit.data());
  std::fflush(stdout);
}

int64_t WallNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void ReportAges(std::vector<double> ages, std::string_view suffix) {
  std::sort(ages.begin(), ages.end());
  for (const auto& [name, share] : {std::pair("p50", 0.5), {"p99", 0.99}, {"p99.9", 0.999}}) {
    const size_t at = static_cast<size_t>(share * static_cast<double>(ages.size() - 1));
    Report(StrCat(name, suffix), ages[at], "us");
  }
}

void SayReady() {
  std::puts("ready");
  std::fflush(stdout);
}

}  // namespace mandate::bench
