// Evictions: deletions of pods that respect PodDisruptionBudgets (policy/v1 Eviction).
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/object/kind.h"

namespace mandate {

struct EvictOptions {
  // If the pod has another UID, it is not evicted, and the error is a conflict (kAborted). With a
  // UID the client may repeat the request. Empty: no precondition.
  std::string uid = {};
  // The time between SIGTERM and SIGKILL, in whole seconds. Default: the pod's own.
  std::optional<absl::Duration> grace_period = std::nullopt;
  // Checks the budgets, but evicts nothing.
  bool dry_run = false;
};

// The body of the request, as JSON.
std::string EvictionBody(const ObjectKey& pod, const EvictOptions& options);

// Whether a PodDisruptionBudget forbids an eviction at present: 429 with the cause
// "DisruptionBudget". The budget may allow it when other pods are ready. RetryAfter() is set only
// if the budget's own status is not up to date.
bool IsBlockedByBudget(const absl::Status& status);

}  // namespace mandate
