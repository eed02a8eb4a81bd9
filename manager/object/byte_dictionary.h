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

struct ZSTD_CDict_s;
struct ZSTD_DDict_s;

namespace mandate {

// Compresses each text by itself, with what the samples have in common (zstd). Immutable, so
// thread-safe. It keeps parts of the samples in memory as long as it exists.
class ByteDictionary {
 public:
  // At most `max_bytes`. kFailedPrecondition: the samples are too few, or have too little in
  // common.
  static absl::StatusOr<std::shared_ptr<const ByteDictionary>> Train(
      const std::vector<std::string>& samples, size_t max_bytes);

  // Calls `use` with the compressed text, which may be larger than the text and is valid during the
  // call.
  void Compress(std::string_view text, absl::FunctionRef<void(std::string_view)> use) const;
  // Writes the text, which has `size` bytes. kInternal: it is not a text of this size that this
  // dictionary compressed.
  absl::Status Decompress(std::string_view compressed, char* text, size_t size) const;

 private:
  struct Free {
    void operator()(ZSTD_CDict_s* dictionary) const;
    void operator()(ZSTD_DDict_s* dictionary) const;
  };

  explicit ByteDictionary(std::string_view bytes);

  const std::unique_ptr<ZSTD_CDict_s, Free> compress_;
  const std::unique_ptr<ZSTD_DDict_s, Free> decompress_;
};

}  // namespace mandate
