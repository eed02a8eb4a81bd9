#include "manager/core/heap_growth.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace mandate {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(_GLIBCXX_TSAN)

// How many bytes the program may use from this address on without asking the kernel. Allocates
// nothing.
size_t RoomAfter(const void* address) {
  static char maps[1 << 20];
  const int file = open("/proc/self/maps", O_RDONLY);
  size_t size = 0;
  for (ssize_t got; (got = read(file, maps + size, sizeof(maps) - 1 - size)) > 0;) size += got;
  close(file);
  maps[size] = '\0';
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const char* line = maps; line != nullptr && *line != '\0';) {
    char* rest = nullptr;
    const uintptr_t begin = std::strtoull(line, &rest, 16);
    const uintptr_t end = std::strtoull(rest + 1, nullptr, 16);
    if (begin <= at && at < end) return end - at;
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return 0;
}

TEST(HeapGrowthTest, MakesRoomInLargeSteps) {
  // A thread of its own has a heap of its own.
  std::thread([] {
    void* last = std::malloc(8);
    // The first room of a heap is used up.
    while (RoomAfter(last) > 8 << 10) last = std::malloc(4 << 10);
    GrowHeapFor(60 << 10);
    EXPECT_LE(RoomAfter(last), 8u << 10) << "not yet";
    GrowHeapFor(60 << 10);
    const size_t room = RoomAfter(last);
    EXPECT_GE(room, 100u << 10);
    last = std::malloc(1 << 10);
    EXPECT_LT(RoomAfter(last), room) << "the room is used";
    EXPECT_GE(RoomAfter(last), 90u << 10);
  }).join();
}

#endif

}  // namespace
}  // namespace mandate
