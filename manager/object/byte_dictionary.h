// A dictionary for texts that resemble each other, such as the objects of one kind.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mandate {

// Compresses each text by itself, with what the samples have in common (LZ4). Immutable, so
// thread-safe. It keeps parts of the samples in memory as long as it exists.
class ByteDictionary {
 public:
  // The largest text that can be compressed.
  static constexpr size_t kMaxTextBytes = size_t{1} << 30;
  // LZ4 refers to no more than this.
  static constexpr size_t kMaxDictionaryBytes = size_t{64} << 10;

  // At most `max_bytes`, and at most kMaxDictionaryBytes. kFailedPrecondition: the samples are too
  // few, or have too little in common.
  static absl::StatusOr<std::shared_ptr<const ByteDictionary>> Train(
      const std::vector<std::string>& samples, size_t max_bytes);

  ~ByteDictionary();

  // Calls `use` with the compressed text, which may be larger than the text and is valid during the
  // call.
  void Compress(std::string_view text, absl::FunctionRef<void(std::string_view)> use) const;
  // Writes the text, which has `size` bytes. kInternal: it is not a text of this size that this
  // dictionary compressed.
  absl::Status Decompress(std::string_view compressed, char* text, size_t size) const;
  // Writes its first `size` bytes; the cost depends on these. kInternal: it has fewer, or this
  // dictionary did not compress it.
  absl::Status DecompressStart(std::string_view compressed, char* text, size_t size) const;

 private:
  struct State;

  explicit ByteDictionary(std::string bytes);

  const std::string bytes_;
  const std::unique_ptr<State> state_;  // as it is before each text
};

}  // namespace mandate
