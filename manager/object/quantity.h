// Kubernetes' quantities (k8s.io/apimachinery/pkg/api/resource): "100m", "1.5", "64Mi", "2e3".
#pragma once

#include <compare>
#include <string_view>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"

namespace mandate {

// An exact number of billionths: 1 == 1000m == 1e0. Immutable.
class Quantity {
 public:
  Quantity() = default;  // 0

  // Digits beyond a billionth are rounded away from zero. A binary quantity beyond 2^63-1 is
  // 2^63-1, as in Go. kInvalidArgument for text that is not a quantity, also for a number without a
  // digit, which Go takes for 0; kOutOfRange for a decimal one beyond 10^27.
  static absl::StatusOr<Quantity> Parse(std::string_view text);

  // In billionths.
  absl::int128 nanos() const { return nanos_; }

  bool operator==(const Quantity& other) const { return nanos_ == other.nanos_; }
  std::strong_ordering operator<=>(const Quantity& other) const {
    return nanos_ < other.nanos_   ? std::strong_ordering::less
           : other.nanos_ < nanos_ ? std::strong_ordering::greater
                                   : std::strong_ordering::equal;
  }

 private:
  absl::int128 nanos_ = 0;
};

}  // namespace mandate
