#include "manager/core/scratch.h"

#include <cstring>

namespace mandate {
namespace {

struct Reused {
  std::unique_ptr<char[]> block;  // null: not used yet
  bool in_use = false;
};
thread_local Reused reused;

}  // namespace

Scratch::Scratch(size_t size) : size_(size) {
  if (size > kReused || reused.in_use) {
    own_ = std::make_unique_for_overwrite<char[]>(size);
    data_ = own_.get();
    return;
  }
  if (reused.block == nullptr) reused.block = std::make_unique_for_overwrite<char[]>(kReused);
  reused.in_use = true;
  data_ = reused.block.get();
}

Scratch::~Scratch() {
  std::memset(data_, 0, size_);
  // Otherwise the compiler may drop the memset of a block that is freed.
  asm volatile("" : : "r"(data_) : "memory");
  if (own_ == nullptr) reused.in_use = false;
}

}  // namespace mandate
