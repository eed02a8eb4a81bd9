// The value of a call that fails only if the test itself is wrong.
#pragma once

#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/status/statusor.h"

namespace mandate {

// Prints the error and aborts the process if there is no value.
template <class T>
T Must(absl::StatusOr<T> result) {
  if (!result.ok()) {
    std::cerr << result.status() << "\n";
    std::abort();
  }
  return *std::move(result);
}

}  // namespace mandate
