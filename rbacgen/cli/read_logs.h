// Reads audit logs from files into a trace, for `audit` and `trace`.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "rbacgen/audit/trace.h"

namespace mandate::rbacgen {

struct LogFlags {
  std::vector<std::string> paths;
  size_t max_event = size_t{4} << 20;
};

// Adds LOG… and --max-event. `flags` outlive the command.
void AddLogFlags(CLI::App* command, LogFlags* flags);

// Adds the flags that select the manager's requests and limit the memory for them, without those
// for the manager's namespace and name. `options` outlive the command.
void AddTraceFlags(CLI::App* command, TraceOptions* options);

// Reads the logs in their order. 0, or the exit code of an error, after a message on standard
// error.
int ReadLogs(const LogFlags& flags, Trace* trace);

}  // namespace mandate::rbacgen
