// metav1.Condition as controllers report: one of each type, its transition time kept while its
// status stays.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"

namespace mandate {

using ConditionProto = k8s::io::apimachinery::pkg::apis::meta::v1::Condition;
using ConditionList = google::protobuf::RepeatedPtrField<ConditionProto>;

// A condition as a plan wants it.
struct DesiredCondition {
  std::string type;
  bool status = false;
  std::string reason;  // CamelCase
  // At most 32,768 bytes (metav1.Condition): a longer one is cut. Control characters are escaped.
  std::string message;
  // The generation that the condition is about; without it, the object's present one.
  std::optional<int64_t> observed_generation = std::nullopt;
  // False for now, and nothing is wrong: its event is not a Warning.
  bool in_progress = false;

  bool operator==(const DesiredCondition&) const = default;
};

// `desired` as a status has them: lastTransitionTime from `current` where the status is the same,
// else `now`; observedGeneration is `generation` unless it says another.
ConditionList MakeConditions(const std::vector<DesiredCondition>& desired,
                             const ConditionList& current, int64_t generation, absl::Time now);

// kInternal when a condition's type is not one of `own_types`: ConditionsUpToDate() would not see
// it.
absl::Status CheckTypes(const std::vector<DesiredCondition>& desired,
                        std::initializer_list<std::string_view> own_types);

// Whether `current` has the conditions of `own_types` as `wanted` has them, and no others of these
// types; times of transition aside. Other types are other controllers' conditions.
bool ConditionsUpToDate(const ConditionList& current, const ConditionList& wanted,
                        std::initializer_list<std::string_view> own_types);

// Null when there is none of this type.
const ConditionProto* FindCondition(const ConditionList& conditions, std::string_view type);
// Null unless it is False, and of this generation.
const ConditionProto* FindFalse(const ConditionList& conditions, std::string_view type,
                                int64_t generation);

}  // namespace mandate
