// std::string_view with abseil's string functions: Debian builds abseil so that absl::string_view
// is a type of its own.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace mandate {

inline absl::string_view AsAbsl(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view AsStd(absl::string_view s) { return {s.data(), s.size()}; }

namespace internal {
template <class T>
decltype(auto) ForStrCat(const T& value) {
  if constexpr (std::same_as<T, std::string_view>) {
    return AsAbsl(value);
  } else {
    return (value);
  }
}
}  // namespace internal

// absl::StrCat that takes std::string_view too.
template <class... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(internal::ForStrCat(args)...);
}

template <class... Args>
void StrAppend(std::string* out, const Args&... args) {
  absl::StrAppend(out, internal::ForStrCat(args)...);
}

}  // namespace mandate
