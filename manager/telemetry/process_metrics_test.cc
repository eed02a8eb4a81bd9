#include "manager/telemetry/process_metrics.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <thread>
#include <vector>

#include "manager/core/executor.h"

namespace mandate {
namespace {

class ProcessMetricsTest : public testing::Test {
 protected:
  double Gauge(const char* name) { return metrics_.Gauge(name, "", {}).Value(); }
  double CpuSeconds() { return metrics_.Counter("process_cpu_seconds_total", "", {}).Value(); }

  Metrics metrics_;
  ProcessMetrics process_{metrics_};
};

TEST_F(ProcessMetricsTest, ArePlausible) {
  EXPECT_GT(Gauge("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(Gauge("process_virtual_memory_bytes"), Gauge("process_resident_memory_bytes"));
  EXPECT_GT(Gauge("process_max_fds"), Gauge("process_open_fds"));
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(Gauge("process_start_time_seconds"), now + 2);
  EXPECT_GT(Gauge("process_start_time_seconds"), now - 600);
}

TEST_F(ProcessMetricsTest, CountDescriptorsAndThreads) {
  // ThreadSanitizer starts a thread of its own together with the first thread.
  Latch end_first;
  std::thread first([&] { end_first.Wait(); });
  process_.Update();
  const double fds = Gauge("process_open_fds");
  const double threads = Gauge("process_threads");
  const int fd = open("/dev/null", O_RDONLY);
  Latch end;
  std::thread thread([&] { end.Wait(); });
  process_.Update();
  EXPECT_EQ(Gauge("process_open_fds"), fds + 1);
  EXPECT_EQ(Gauge("process_threads"), threads + 1);
  end.Set();
  thread.join();
  end_first.Set();
  first.join();
  close(fd);
  process_.Update();
  EXPECT_EQ(Gauge("process_open_fds"), fds);
}

TEST_F(ProcessMetricsTest, CpuTimeGrows) {
  const double before = CpuSeconds();
  volatile uint64_t sum = 0;
  while (CpuSeconds() < before + 0.05) {
    for (uint64_t i = 0; i < 1'000'000; ++i) sum = sum + i;
    process_.Update();
  }
  EXPECT_GE(CpuSeconds(), before + 0.05);
  const auto clock_seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  EXPECT_NEAR(CpuSeconds(), clock_seconds, 0.2);
}

}  // namespace
}  // namespace mandate
