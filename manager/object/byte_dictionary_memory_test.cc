// What the training of a dictionary leaves in the process: nothing of the samples.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/byte_dictionary.h"

namespace mandate {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(_GLIBCXX_TSAN)

constexpr size_t kMarkerSize = 32;
constexpr char kMark = '\xb5';

// A text that ends with a marker: every second byte is kMark, and the others are random, so that
// training cannot describe one sample by another.
std::string Sample(int i) {
  std::string sample = StrCat("sample ", i, ": ");
  for (int line = 0; line < 20; ++line) sample += StrCat(" line ", line, " is ", i * line % 97);
  std::mt19937 random(static_cast<unsigned>(i));
  for (size_t at = 0; at < kMarkerSize; at += 2) {
    sample += {kMark, static_cast<char>(random())};
  }
  return sample;
}

size_t MarkersIn(const char* bytes, size_t size) {
  size_t found = 0;
  for (size_t start = 0; start + kMarkerSize <= size; ++start) {
    size_t same = 0;
    while (same < kMarkerSize && bytes[start + same] == kMark) same += 2;
    if (same == kMarkerSize) ++found;
  }
  return found;
}

// How often the marker is in the memory that this process may write. Allocates nothing, since that
// could overwrite what it looks for.
size_t MarkersInMemory() {
  static char maps[1 << 20];
  static char bytes[1 << 20];
  const int maps_file = open("/proc/self/maps", O_RDONLY);
  size_t size = 0;
  for (ssize_t got; (got = read(maps_file, maps + size, sizeof(maps) - 1 - size)) > 0;) {
    size += static_cast<size_t>(got);
  }
  close(maps_file);
  maps[size] = '\0';
  const int memory = open("/proc/self/mem", O_RDONLY);
  size_t found = 0;
  for (const char* line = maps; line != nullptr && *line != '\0';) {
    char* rest = nullptr;
    uintptr_t begin = std::strtoull(line, &rest, 16);
    const uintptr_t end = std::strtoull(rest + 1, &rest, 16);
    const bool writable = std::string_view(rest, 3) == " rw";
    for (; writable && begin < end; begin += sizeof(bytes) - kMarkerSize) {
      // What is read for the search must not be found itself.
      std::memset(bytes, 0, sizeof(bytes));
      const ssize_t got =
          pread(memory, bytes, std::min(sizeof(bytes), end - begin), static_cast<off_t>(begin));
      found += MarkersIn(bytes, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    }
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  close(memory);
  return found;
}

TEST(ByteDictionaryMemoryTest, TrainingLeavesNothingOfTheSamples) {
  // malloc() gives no block back to the kernel, as where other blocks lie above those of a
  // training.
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  {
    std::vector<std::string> samples;
    for (int i = 0; i < 200; ++i) samples.push_back(Sample(i));
    EXPECT_GE(MarkersInMemory(), 200u) << "the search finds the samples";
    EXPECT_TRUE(ByteDictionary::Train(samples, size_t{4} << 10).ok());
  }
  EXPECT_EQ(MarkersInMemory(), 0u);
}

#endif

}  // namespace
}  // namespace mandate
