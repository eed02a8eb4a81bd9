// Plans the changes for one Greeting: a pure function of the objects that were read.
#pragma once

#include <optional>
#include <string>

#include "greeting/kind.h"
#include "manager/object/kinds/core_v1.h"

namespace example {

inline constexpr char kMessageKey[] = "message";

struct Plan {
  // The ConfigMap as it must be; empty if a foreign one has its name.
  std::optional<mandate::corev1::ConfigMap> write;
  // The reason why the spec cannot be fulfilled; empty if it can be.
  std::string problem;
};

// `actual` is the ConfigMap with the name of the Greeting, if it exists.
Plan MakePlan(const v1alpha1::Greeting& greeting,
              const std::optional<mandate::corev1::ConfigMap>& actual);

}  // namespace example
