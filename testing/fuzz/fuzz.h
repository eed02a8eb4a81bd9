// What the fuzz targets share.
#ifndef TESTING_FUZZ_FUZZ_H_
#define TESTING_FUZZ_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

// Called by libFuzzer, and by replay.cc, once for each input.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace mandate::fuzz {

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A property of the code under test; the process ends if it does not hold, which is what a fuzzer
// waits for. The values, printed, say why.
template <class... Values>
void Require(bool holds, std::string_view property, const Values&... values) {
  if (holds) return;
  std::cerr << "PROPERTY VIOLATED: " << property << "\n";
  ((std::cerr << "  " << values << "\n"), ...);
  std::abort();
}

// A source with two lines more above its first; a byte order mark counts where the file begins.
inline std::string WithLinesAbove(std::string_view source) {
  const size_t mark = source.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  return std::string(source.substr(0, mark)) + "\n\n" + std::string(source.substr(mark));
}

}  // namespace mandate::fuzz

#endif  // TESTING_FUZZ_FUZZ_H_
