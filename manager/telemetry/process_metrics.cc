#include "manager/telemetry/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "manager/core/read_file.h"

namespace mandate {
namespace {

// Fields of /proc/self/stat (proc(5)).
struct Stat {
  double cpu_seconds = 0;
  double threads = 0;
  double start_seconds = 0;  // since the machine started
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

std::optional<Stat> ReadStat() {
  const std::string text = ReadFile("/proc/self/stat").value_or("");
  // The second field is the program's name in parentheses. The name may contain blanks and
  // parentheses.
  const size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(end_of_name + 1));
  std::string state;
  fields >> state;
  double values[23];  // the fields 4 to 26
  for (double& value : values) {
    if (!(fields >> value)) return std::nullopt;
  }
  const auto field = [&values](int number) { return values[number - 4]; };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  Stat stat;
  stat.cpu_seconds = (field(14) + field(15)) / ticks;
  stat.threads = field(20);
  stat.start_seconds = field(22) / ticks;
  stat.virtual_bytes = field(23);
  stat.resident_bytes = field(24) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return stat;
}

// The time at which the machine started, in Unix seconds.
std::optional<double> ReadBootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  double value;
  while (file >> word) {
    if (word == "btime" && file >> value) return value;
  }
  return std::nullopt;
}

std::optional<int> CountOpenFds() {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return std::nullopt;
  int count = 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count - 1;  // without the descriptor of the folder itself
}

}  // namespace

ProcessMetrics::ProcessMetrics(Metrics& metrics)
    : cpu_seconds_(metrics.Counter("process_cpu_seconds_total",
                                   "Total user and system CPU time spent in seconds", {})),
      resident_bytes_(
          metrics.Gauge("process_resident_memory_bytes", "Resident memory size in bytes", {})),
      virtual_bytes_(
          metrics.Gauge("process_virtual_memory_bytes", "Virtual memory size in bytes", {})),
      open_fds_(metrics.Gauge("process_open_fds", "Number of open file descriptors", {})),
      max_fds_(metrics.Gauge("process_max_fds", "Maximum number of open file descriptors", {})),
      start_time_(metrics.Gauge("process_start_time_seconds",
                                "Start time of the process since unix epoch in seconds", {})),
      threads_(metrics.Gauge("process_threads", "Number of threads of the process", {})) {
  Update();
}

void ProcessMetrics::Update() {
  if (const auto stat = ReadStat()) {
    {
      MutexLock lock(mutex_);
      if (stat->cpu_seconds > cpu_seconds_counted_) {
        cpu_seconds_.Increment(stat->cpu_seconds - cpu_seconds_counted_);
        cpu_seconds_counted_ = stat->cpu_seconds;
      }
    }
    resident_bytes_.Set(stat->resident_bytes);
    virtual_bytes_.Set(stat->virtual_bytes);
    threads_.Set(stat->threads);
    if (const auto boot = ReadBootTime()) start_time_.Set(*boot + stat->start_seconds);
  }
  if (const auto count = CountOpenFds()) open_fds_.Set(*count);
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) max_fds_.Set(static_cast<double>(limit.rlim_cur));
}

}  // namespace mandate
