// Compares the latency of one component's events before and during another component's trouble.
//   hack/bazel run //manager:bulkhead_benchmark
//
// Exit code 1: the 99th percentile of a row has become more than kMostGrowth times as long. The
// limit is for what waits for the trouble's end, not for noise; refused events alone cost a factor
// of three, as the double answers them on the thread that serves the quiet component, too.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "manager/testing_bulkhead.h"

namespace mandate {
namespace {

constexpr int kProbes = 2000;
constexpr double kMostGrowth = 6;

struct Percentiles {
  double p50, p99;  // in microseconds
};

Percentiles Measure(Bulkhead& bulkhead) {
  std::vector<absl::Duration> took;
  for (int i = 0; i < kProbes; ++i) took.push_back(bulkhead.Probe());
  std::sort(took.begin(), took.end());
  return {absl::ToDoubleMicroseconds(took[kProbes / 2]),
          absl::ToDoubleMicroseconds(took[kProbes * 99 / 100])};
}

// Returns whether each row was within the limit.
bool Run() {
  bool within = true;
  std::printf("From an object's creation to its reconcile, in microseconds; %d objects each\n\n",
              kProbes);
  std::printf("%-24s %17s  %17s\n", "", "before: p50  p99", "during: p50  p99");
  for (const Trouble& trouble : Troubles()) {
    Bulkhead bulkhead;
    trouble.prepare(bulkhead);
    bulkhead.Run();
    for (int i = 0; i < 200; ++i) bulkhead.Probe();
    const Percentiles before = Measure(bulkhead);
    trouble.begin(bulkhead);
    const Percentiles during = Measure(bulkhead);
    std::printf("%-24s %11.0f %5.0f  %11.0f %5.0f  p99 x%.2f\n", trouble.name, before.p50,
                before.p99, during.p50, during.p99, during.p99 / before.p99);
    std::fflush(stdout);
    within = within && during.p99 <= kMostGrowth * before.p99;
  }
  if (!within) std::printf("\nbeyond the limit: p99 x%.0f\n", kMostGrowth);
  return within;
}

}  // namespace
}  // namespace mandate

int main() { return mandate::Run() ? 0 : 1; }
