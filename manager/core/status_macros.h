// RETURN_IF_ERROR(expr): returns expr's absl::Status from this function unless it is OK.
// ASSIGN_OR_RETURN(auto x, expr): the value of expr's absl::StatusOr, or returns its status.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define MANDATE_CONCAT_INNER(a, b) a##b
#define MANDATE_CONCAT(a, b) MANDATE_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                                                        \
  do {                                                                               \
    if (::absl::Status mandate_status = (expr); !mandate_status.ok()) [[unlikely]] { \
      return mandate_status;                                                         \
    }                                                                                \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  MANDATE_ASSIGN_OR_RETURN(MANDATE_CONCAT(mandate_result_, __LINE__), lhs, expr)

#define MANDATE_ASSIGN_OR_RETURN(result, lhs, expr) \
  auto result = (expr);                             \
  if (!result.ok()) [[unlikely]] {                  \
    return std::move(result).status();              \
  }                                                 \
  lhs = *std::move(result)
