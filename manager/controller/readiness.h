// What a controller says of itself: OK, or everything that keeps it from its work.
#ifndef MANAGER_CONTROLLER_READINESS_H_
#define MANAGER_CONTROLLER_READINESS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "manager/cache/cache_view.h"

namespace mandate {

// Collects reasons. Not thread-safe.
class Readiness {
 public:
  // `who` begins the message: "controller scope of component scope-instance".
  explicit Readiness(std::string who) : who_(std::move(who)) {}

  void Add(absl::StatusCode code, std::string_view why);
  // Adds it if there is no reason yet.
  void AddOtherwise(absl::StatusCode code, std::string_view why) {
    if (why_.empty()) Add(code, why);
  }
  // Adds nothing for a source that is live. `delivered`: it has been live before.
  void AddSource(std::string_view source, const DemandStatus& status, bool delivered);

  // The code is the first reason's; OK without any.
  absl::Status ToStatus() const;

 private:
  const std::string who_;
  absl::StatusCode code_ = absl::StatusCode::kOk;
  std::string why_;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_READINESS_H_
