// The violations of invariants that a run has found.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/strings.h"

namespace mandate::model {

class Violations {
 public:
  // `clock` outlives it; times count from `start`.
  explicit Violations(const Clock& clock) : Violations(clock, clock.TimeNow()) {}
  Violations(const Clock& clock, absl::Time start) : clock_(clock), start_(start) {}

  // `invariant`: "I5". At most ten of each are kept.
  template <class... Parts>
  void Add(std::string_view invariant, const Parts&... parts) {
    if (++counts_[std::string(invariant)] > 10) return;
    texts_.push_back(
        StrCat(invariant, " at ", absl::FormatDuration(clock_.TimeNow() - start_), ": ", parts...));
  }
  // Adds those of other checks of the same run.
  void Add(const Violations& others) {
    texts_.insert(texts_.end(), others.texts_.begin(), others.texts_.end());
  }
  absl::Time start() const { return start_; }
  // "I5 at 1m3s: what happened".
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  const Clock& clock_;
  const absl::Time start_;
  std::map<std::string, int> counts_;
  std::vector<std::string> texts_;
};

}  // namespace mandate::model
