// The state of one component's part in a watch, for people.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/cache/cache_view.h"

namespace mandate {

// A component that demands a scope, and the watch that serves it. No object is part of it, and no
// text that the server sent.
struct WatchSnapshot {
  std::string component;
  DemandSpec spec;
  bool is_sponsor = false;  // the watch runs under the component's identity
  // The wider scope whose watch serves this one.
  std::optional<DemandSpec> covered_by = std::nullopt;
  // What the component sees.
  DemandState state = DemandState::kPending;
  absl::Time since;  // when the state began, of Clock::TimeNow()
  absl::StatusCode reason = absl::StatusCode::kOk;
  bool failed = false;  // DemandStatus::failed
  // Of the store, which components share: the version up to which it is known ("": not listed yet),
  // and the number of objects and of their bytes in memory.
  std::string version = {};
  size_t objects = 0;
  size_t bytes = 0;
};

}  // namespace mandate
