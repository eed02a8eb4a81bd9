// A string as a template argument, so that compiler errors show it.
#ifndef MANAGER_CLIENT_FIXED_STRING_H_
#define MANAGER_CLIENT_FIXED_STRING_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace mandate {

template <size_t N>
struct FixedString {
  char text[N] = {};

  constexpr FixedString() = default;
  constexpr FixedString(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// `N` is the text's size plus 1.
template <size_t N>
consteval FixedString<N> Fixed(std::string_view text) {
  FixedString<N> fixed;
  std::copy_n(text.data(), N - 1, fixed.text);
  return fixed;
}

}  // namespace mandate

#endif  // MANAGER_CLIENT_FIXED_STRING_H_
