// Room for bytes that are needed only for a moment.
#pragma once

#include <cstddef>
#include <memory>

namespace mandate {

// A block of memory that is reused by its thread, because the allocation of some KiB takes longer
// than most uses of them. It is overwritten with zeros at the end, so that nothing of an object or
// a Secret stays in it. Larger blocks, and one within the use of another, are allocated.
class Scratch {
 public:
  // Blocks of up to this size are reused.
  static constexpr size_t kReused = size_t{64} << 10;

  explicit Scratch(size_t size);  // bytes; not initialized
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  char* data() { return data_; }
  size_t size() const { return size_; }

 private:
  const size_t size_;
  std::unique_ptr<char[]> own_;  // null: the thread's
  char* data_;
};

}  // namespace mandate
