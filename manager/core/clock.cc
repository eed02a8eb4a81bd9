#include "manager/core/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace mandate {
namespace {

class RealClock : public Clock {
 public:
  absl::Time TimeNow() const override {
    return wall_start_ + absl::FromChrono(std::chrono::steady_clock::now() - steady_start_);
  }

  absl::Time WallTimeNow() const override { return absl::Now(); }

 private:
  const absl::Time wall_start_ = absl::Now();
  const std::chrono::steady_clock::time_point steady_start_ = std::chrono::steady_clock::now();
};

}  // namespace

const Clock& Clock::Real() {
  static const RealClock clock;
  return clock;
}

}  // namespace mandate
