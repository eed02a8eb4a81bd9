// Kubernetes' quantities (k8s.io/apimachinery/pkg/api/resource): "100m", "1.5", "64Mi", "2e3".
#ifndef MANAGER_OBJECT_QUANTITY_H_
#define MANAGER_OBJECT_QUANTITY_H_

#include <compare>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"

namespace mandate {

// An exact number of billionths, and the family of suffixes in which it was written. Immutable.
// Compared by value: 1 == 1000m == 1e0.
class Quantity {
 public:
  Quantity() = default;  // 0

  // Digits beyond a billionth are rounded away from zero. A binary quantity beyond 2^63-1 is
  // 2^63-1, as in Go. kInvalidArgument for text that is not a quantity, also for a number without a
  // digit, which Go takes for 0; kOutOfRange for a decimal one beyond 10^27.
  static absl::StatusOr<Quantity> Parse(std::string_view text);

  // The canonical form, as the API server writes it: no fraction, the largest suffix that needs
  // none, binary suffixes only for whole numbers of 1024 and more.
  std::string ToString() const;

  // In billionths.
  absl::int128 nanos() const { return nanos_; }

  bool operator==(const Quantity& other) const { return nanos_ == other.nanos_; }
  std::strong_ordering operator<=>(const Quantity& other) const {
    return nanos_ < other.nanos_   ? std::strong_ordering::less
           : other.nanos_ < nanos_ ? std::strong_ordering::greater
                                   : std::strong_ordering::equal;
  }

 private:
  enum class Format { kDecimal, kBinary, kExponent };

  absl::int128 nanos_ = 0;
  Format format_ = Format::kDecimal;
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_QUANTITY_H_
