// Named checks of whether the process lives and is ready, for the HTTP and gRPC endpoints.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "manager/core/mutex.h"

namespace mandate {

// Returns OK if healthy. May be called from any thread, also concurrently; must return at once.
using HealthCheck = std::function<absl::Status()>;
// Returns a problem that does not fail a check; empty if there is none. Called like a HealthCheck.
using HealthWarning = std::function<std::string()>;

// A set of checks; it has "ping", which is always OK. Thread-safe.
class HealthChecks {
 public:
  struct Result {
    std::string name;
    absl::Status status;  // OK if excluded: the check did not run
    bool excluded = false;
  };

  HealthChecks();

  // Replaces a check of the same name.
  void Add(std::string name, HealthCheck check);

  // Replaces a warning of the same name.
  void AddWarning(std::string name, HealthWarning warning);
  // "NAME: TEXT" of each warning that is not empty, sorted by name.
  std::vector<std::string> Warnings() const;

  // Sorted by name, ping first.
  std::vector<Result> Run(const std::set<std::string>& exclude = {}) const;
  // nullopt: there is no check of that name.
  std::optional<absl::Status> RunOne(const std::string& name) const;

 private:
  // Shared, so that a check runs without the lock, and completes even if it is replaced meanwhile.
  using Shared = std::shared_ptr<const HealthCheck>;
  std::vector<std::pair<std::string, Shared>> All() const;

  mutable Mutex mutex_;
  std::map<std::string, Shared> checks_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const HealthWarning>> warnings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
