#include "manager/core/freed_memory.h"

#include <malloc.h>
#include <openssl/crypto.h>
#include <string.h>

#include <cstdlib>
#include <new>

namespace mandate {
namespace {

// A sanitizer's malloc() gives exactly what was asked for. ThreadSanitizer is recognized by what
// .bazelrc defines for it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(_GLIBCXX_TSAN)
#define MANDATE_SANITIZED 1
constexpr bool kHasRoom = false;
#else
constexpr bool kHasRoom = true;
#endif

// Frees a block that the program has used `size` bytes of. Most blocks are small, and a call of
// memset costs as much as the rest. A block of glibc's malloc() has room for 24, 40, 56, … bytes.
void EraseUsedAndFree(void* block, size_t size) noexcept {
  if (!kHasRoom) {
    memset(block, 0, size);
  } else if (size <= 24) {
    memset(block, 0, 24);
  } else if (size <= 40) {
    memset(block, 0, 40);
  } else if (size <= 56) {
    memset(block, 0, 56);
  } else {
    memset(block, 0, size);
  }
  // Otherwise the compiler may drop the memset, because the block is freed.
  asm volatile("" : : "r"(block) : "memory");
  std::free(block);
}

}  // namespace

void EraseAndFree(void* block) noexcept {
  if (block != nullptr) EraseUsedAndFree(block, malloc_usable_size(block));
}

void* EraseAndReallocate(void* block, size_t size) noexcept {
  if (block == nullptr) return std::malloc(size);
  const size_t held = malloc_usable_size(block);
  if (size > 0 && size <= held && size >= held / 2) return block;
  // realloc() may leave a copy behind.
  void* const moved = std::malloc(size);
  if (moved == nullptr) return nullptr;
  memcpy(moved, block, size < held ? size : held);
  EraseAndFree(block);
  return moved;
}

namespace {

// OpenSSL accepts it only before its first allocation.
[[maybe_unused]] const bool openssl_erases =
    CRYPTO_set_mem_functions(
        [](size_t size, const char*, int) { return std::malloc(size); },
        [](void* block, size_t size, const char*, int) { return EraseAndReallocate(block, size); },
        [](void* block, const char*, int) { EraseAndFree(block); }) == 1;

}  // namespace
}  // namespace mandate

#if !defined(MANDATE_SANITIZED)

// operator new gets its memory from malloc() and aligned_alloc().
void operator delete(void* block) noexcept { mandate::EraseAndFree(block); }
void operator delete(void* block, std::size_t size) noexcept {
  if (block != nullptr) mandate::EraseUsedAndFree(block, size);
}
void operator delete(void* block, std::align_val_t) noexcept { mandate::EraseAndFree(block); }
void operator delete(void* block, std::size_t size, std::align_val_t) noexcept {
  if (block != nullptr) mandate::EraseUsedAndFree(block, size);
}

#endif
