// The flags of traces.
#pragma once

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "manager/manager.h"

namespace mandate {

// The flags that begin with --tracing-. `tracing` outlives the app.
void DeclareTracing(CLI::App& app, Tracing& tracing);

// kInvalidArgument names the flag.
absl::Status CheckTracing(const Tracing& tracing);

}  // namespace mandate
