#include "manager/core/heap_growth.h"

#include <cstdlib>

namespace mandate {
namespace {

// Less than 128 KiB: malloc() maps larger blocks by themselves, and gives more than that at the
// end of a heap back to the kernel.
constexpr size_t kStep = size_t{96} << 10;
constexpr size_t kRoom = size_t{112} << 10;

}  // namespace

void GrowHeapFor(size_t bytes) {
  thread_local size_t noted = 0;
  noted += bytes;
  if (noted < kStep) return;
  noted = 0;
  void* block = std::malloc(kRoom);
  // Otherwise the compiler may drop both calls.
  asm volatile("" : : "r"(block) : "memory");
  std::free(block);
}

}  // namespace mandate
