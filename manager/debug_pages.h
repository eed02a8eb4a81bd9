// The pages of the debug listener, as text: tables for people, JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "manager/cache/cache.h"
#include "manager/controller/queue_snapshot.h"

namespace mandate {

// The work queue of one controller.
struct ControllerQueue {
  std::string component;
  std::string controller;
  int workers = 0;  // the most that run at once
  QueueSnapshot queue = {};
};

// A table with a line for each queue, and one with a line for each request. `now` is that of
// Clock::TimeNow(): the tables have the time until or since then, the JSON has points in time.
std::string QueuesAsTable(const std::vector<ControllerQueue>& queues, absl::Time now);
std::string QueuesAsJson(const std::vector<ControllerQueue>& queues);

// A table with a line for each component of each watched scope.
std::string WatchesAsTable(const Cache::Watches& watches, absl::Time now);
std::string WatchesAsJson(const Cache::Watches& watches);

}  // namespace mandate
