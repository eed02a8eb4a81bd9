#include "manager/core/freed_memory.h"

#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

namespace mandate {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(_GLIBCXX_TSAN)

constexpr size_t kSize = 8192;
// malloc() links free blocks by addresses at their start, which may have any byte.
constexpr size_t kLinks = 4 * sizeof(void*);

// How many bytes of the block still have the letter that `fill` wrote, after `release`.
size_t LeftAfter(void* block, const std::function<void()>& release) {
  auto* const bytes = static_cast<volatile char*>(block);
  for (size_t i = 0; i < kSize; ++i) bytes[i] = 's';
  // A block after it, so that it is not given back to the kernel.
  const std::unique_ptr<char[]> next(new char[kSize]);
  release();
  size_t left = 0;
  for (size_t i = kLinks; i < kSize; ++i) left += bytes[i] == 's' ? 1 : 0;
  return left;
}

TEST(FreedMemoryTest, TheTestItselfSeesWhatIsLeft) {
  void* const block = std::malloc(kSize);
  EXPECT_GT(LeftAfter(block, [=] { std::free(block); }), kSize / 2);
}

TEST(FreedMemoryTest, OfNew) {
  char* const block = new char[kSize];
  EXPECT_EQ(LeftAfter(block, [=] { delete[] block; }), 0u);
  auto* const text = new std::string(kSize, 'x');
  EXPECT_EQ(LeftAfter(text->data(), [=] { delete text; }), 0u);
  struct alignas(64) Aligned {
    char bytes[kSize];
  };
  auto* const aligned = new Aligned;
  EXPECT_EQ(LeftAfter(aligned, [=] { delete aligned; }), 0u);
}

TEST(FreedMemoryTest, OfOpenssl) {
  void* const block = OPENSSL_malloc(kSize);
  EXPECT_EQ(LeftAfter(block, [=] { OPENSSL_free(block); }), 0u);
}

TEST(FreedMemoryTest, OfABlockThatGrowsOrShrinks) {
  for (const size_t size : {10 * kSize, size_t{10}}) {
    void* const block = std::malloc(kSize);
    void* moved = nullptr;
    EXPECT_EQ(LeftAfter(block, [&] { moved = EraseAndReallocate(block, size); }), 0u) << size;
    EXPECT_EQ(std::string(static_cast<char*>(moved), 10), "ssssssssss");
    EraseAndFree(moved);
  }
  EraseAndFree(EraseAndReallocate(nullptr, 1));
  EraseAndFree(nullptr);
}

#endif

}  // namespace
}  // namespace mandate
