// Keeps the checks of large objects from taking all threads: most of them wait for many access
// reviews, and one user could send nothing else.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "manager/core/mutex.h"

namespace mandate::scope {

// How many large checks run, of each user: of each FlowOf() (manager/admission/review_flow.h).
// Thread-safe; held by shared_ptr.
class LargeChecks : public std::enable_shared_from_this<LargeChecks> {
 public:
  LargeChecks(size_t per_user, size_t in_all) : per_user_(per_user), in_all_(in_all) {}

  // Starts one more check of the user. Release the result when it ends. Null: too many run.
  std::shared_ptr<void> Take(const std::string& user);

 private:
  const size_t per_user_;
  const size_t in_all_;
  Mutex mutex_;
  size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, size_t> by_user_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate::scope
