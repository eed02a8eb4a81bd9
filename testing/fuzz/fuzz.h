// Functions that the fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

// The entry point, which libFuzzer and replay.cc call once for each input.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace mandate::fuzz {

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Checks a property of the code under test. If it does not hold, prints the values and aborts,
// which the fuzzer detects.
template <class... Values>
void Require(bool holds, std::string_view property, const Values&... values) {
  if (holds) return;
  std::cerr << "PROPERTY VIOLATED: " << property << "\n";
  ((std::cerr << "  " << values << "\n"), ...);
  std::abort();
}

// The source with two more lines at its start, after a byte order mark if there is one.
inline std::string WithLinesAbove(std::string_view source) {
  const size_t mark = source.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  return std::string(source.substr(0, mark)) + "\n\n" + std::string(source.substr(mark));
}

}  // namespace mandate::fuzz
