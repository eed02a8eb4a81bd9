// What a task costs this process, and one line of JSON for each figure.
#ifndef HACK_BENCH_OURS_REPORT_H_
#define HACK_BENCH_OURS_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::bench {

// Of this process since it began: user and system, all threads.
double CpuSeconds();

// A field of /proc/self/status ("VmRSS", "VmHWM", "RssAnon"), in bytes.
double MemoryBytes(std::string_view field);

// {"metric": "cpu", "value": 0.31, "unit": "s"} on standard output.
void Report(std::string_view metric, double value, std::string_view unit);

// As the server writes it into its events.
int64_t WallNanoseconds();

// "p50", "p99" and "p99.9", with this behind them, of microseconds: of one at least.
void ReportAges(std::vector<double> ages, std::string_view suffix);

// Tells the driver that what it does from now on is measured.
void SayReady();

}  // namespace mandate::bench

#endif  // HACK_BENCH_OURS_REPORT_H_
