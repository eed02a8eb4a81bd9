// Measures the cost of a task in this process, and prints one line of JSON for each result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::bench {

// The CPU time of this process since its start: user and system time of all threads.
double CpuSeconds();

// A field of /proc/self/status ("VmRSS", "VmHWM", "RssAnon"), in bytes.
double MemoryBytes(std::string_view field);

// Prints {"metric": "cpu", "value": 0.31, "unit": "s"} to standard output.
void Report(std::string_view metric, double value, std::string_view unit);

// The unix time in nanoseconds, as the server writes it into its events.
int64_t WallNanoseconds();

// Reports the metrics "p50", "p99" and "p99.9", each followed by `suffix`, of `ages` in
// microseconds. `ages` is not empty.
void ReportAges(std::vector<double> ages, std::string_view suffix);

// Tells the driver that the measurement starts.
void SayReady();

}  // namespace mandate::bench
