// The readiness of a controller: OK, or all reasons why it does not work.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "manager/cache/cache_view.h"

namespace mandate {

// A collector of reasons. Not thread-safe.
class Readiness {
 public:
  // `who` begins the message: "controller scope of component scope-instance".
  explicit Readiness(std::string who) : who_(std::move(who)) {}

  void Add(absl::StatusCode code, std::string_view why);
  // Adds it if there is no reason yet.
  void AddIfEmpty(absl::StatusCode code, std::string_view why) {
    if (why_.empty()) Add(code, why);
  }
  // Adds a reason unless the source is synced. `delivered`: it has been synced before.
  void AddSource(std::string_view source, const DemandStatus& status, bool delivered);

  // The code is that of the first reason; OK without reasons.
  absl::Status ToStatus() const;

 private:
  const std::string who_;
  absl::StatusCode code_ = absl::StatusCode::kOk;
  std::string why_;
};

}  // namespace mandate
