#include "hack/bench/ours/report.h"

#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <sstream>

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

void SayReady() {
  std::puts("ready");
  std::fflush(stdout);
}

}  // namespace mandate::bench
