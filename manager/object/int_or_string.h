// Kubernetes' IntOrString (k8s.io/apimachinery/pkg/util/intstr): 8080, "http", "25%".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "k8s.io/apimachinery/pkg/util/intstr/generated.pb.h"

namespace mandate {

using IntOrString = k8s::io::apimachinery::pkg::util::intstr::IntOrString;

IntOrString IntOrStringOf(int32_t value);
IntOrString IntOrStringOf(std::string_view value);

bool IsInt(const IntOrString& value);
// As YAML has it, without quotes.
std::string ToString(const IntOrString& value);
// Values that were built in different ways may differ in their encoding.
bool IsSame(const IntOrString& a, const IntOrString& b);

// A number, or a share of `total` in percent, such as maxUnavailable: "25%" of 10 is 2, or 3 with
// `round_up`. kInvalidArgument for any other string.
absl::StatusOr<int> ScaledValue(const IntOrString& value, int total, bool round_up);

}  // namespace mandate
