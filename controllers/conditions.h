// metav1.Condition as controllers report: one of each type, its transition time kept while its
// status stays.
#ifndef CONTROLLERS_CONDITIONS_H_
#define CONTROLLERS_CONDITIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"

namespace mandate {

using ConditionProto = k8s::io::apimachinery::pkg::apis::meta::v1::Condition;
using ConditionList = google::protobuf::RepeatedPtrField<ConditionProto>;

// What a plan says of one condition, before it is known whether that is news.
struct DesiredCondition {
  std::string type;
  bool status = false;
  std::string reason;   // CamelCase
  std::string message;  // at most 32,768 bytes (metav1.Condition); longer ones are cut
  // Of what it was said, where that was before; else of the object as it is.
  std::optional<int64_t> observed_generation = std::nullopt;

  bool operator==(const DesiredCondition&) const = default;
};

// `desired` as a status has them: lastTransitionTime from `current` where the status is the same,
// else `now`; observedGeneration is `generation` unless it says another.
ConditionList MakeConditions(const std::vector<DesiredCondition>& desired,
                             const ConditionList& current, int64_t generation, absl::Time now);

// Whether the two say the same, in any order; times of transition aside.
bool SameConditions(const ConditionList& a, const ConditionList& b);

// Null when there is none of this type.
const ConditionProto* FindCondition(const ConditionList& conditions, std::string_view type);

}  // namespace mandate

#endif  // CONTROLLERS_CONDITIONS_H_
