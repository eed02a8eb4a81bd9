#include "manager/object/byte_dictionary.h"

// Training with chosen parameters.
#define ZDICT_STATIC_LINKING_ONLY
#include <lz4.h>
#include <malloc.h>
#include <zdict.h>

#include <algorithm>
#include <utility>

#include "manager/core/scratch.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// How fast it skips what has no match. Tuned by B14
// (docs/decisions/2026-11-27-objects-are-held-compressed.md).
constexpr int kAcceleration = 4;

// The parameters of zstd's own fast training, without its search for better ones.
ZDICT_fastCover_params_t TrainingParameters() {
  ZDICT_fastCover_params_t parameters = {};
  parameters.k = 1000;
  parameters.d = 8;
  parameters.f = 18;
  parameters.accel = 4;
  return parameters;
}

// While this lives, the allocator overwrites what is freed, except blocks of up to 1 KiB: training
// takes its memory from malloc, and would leave parts of the samples there.
class OverwritesFreed {
 public:
  OverwritesFreed() { mallopt(M_PERTURB, 0xff); }
  ~OverwritesFreed() { mallopt(M_PERTURB, 0); }
};

int Int(size_t size) { return static_cast<int>(size); }

absl::Status Check(int written, size_t size) {
  if (written < 0) return absl::InternalError("compressed bytes cannot be read");
  if (written == Int(size)) return absl::OkStatus();
  return absl::InternalError(
      StrCat("the decompressed text has ", written, " bytes instead of ", size));
}

}  // namespace

// Where the dictionary has which bytes.
struct ByteDictionary::State {
  LZ4_stream_t stream;
};

ByteDictionary::ByteDictionary(std::string bytes)
    : bytes_(std::move(bytes)), state_(std::make_unique<State>()) {
  LZ4_initStream(&state_->stream, sizeof(state_->stream));
  LZ4_loadDict(&state_->stream, bytes_.data(), Int(bytes_.size()));
}

ByteDictionary::~ByteDictionary() = default;

absl::StatusOr<std::shared_ptr<const ByteDictionary>> ByteDictionary::Train(
    const std::vector<std::string>& samples, size_t max_bytes) {
  std::string all;
  std::vector<size_t> sizes;
  for (const std::string& sample : samples) {
    all += sample;
    sizes.push_back(sample.size());
  }
  std::string bytes(std::min(max_bytes, kMaxDictionaryBytes), '\0');
  const OverwritesFreed overwrites;
  const size_t size =
      ZDICT_trainFromBuffer_fastCover(bytes.data(), bytes.size(), all.data(), sizes.data(),
                                      static_cast<unsigned>(sizes.size()), TrainingParameters());
  if (ZDICT_isError(size) != 0) {
    return absl::FailedPreconditionError(StrCat("no dictionary can be made of ", samples.size(),
                                                " samples: ", ZDICT_getErrorName(size)));
  }
  bytes.resize(size);
  return std::shared_ptr<const ByteDictionary>(new ByteDictionary(std::move(bytes)));
}

void ByteDictionary::Compress(std::string_view text,
                              absl::FunctionRef<void(std::string_view)> use) const {
  // A copy of the state costs less than lookups in the dictionary's table and in the text's.
  thread_local State state;
  state = *state_;
  Scratch room(static_cast<size_t>(LZ4_compressBound(Int(text.size()))));
  // It cannot fail: there is room for the worst case.
  const int size = LZ4_compress_fast_continue(&state.stream, text.data(), room.data(),
                                              Int(text.size()), Int(room.size()), kAcceleration);
  use({room.data(), static_cast<size_t>(size)});
}

absl::Status ByteDictionary::Decompress(std::string_view compressed, char* text,
                                        size_t size) const {
  return Check(LZ4_decompress_safe_usingDict(compressed.data(), text, Int(compressed.size()),
                                             Int(size), bytes_.data(), Int(bytes_.size())),
               size);
}

absl::Status ByteDictionary::DecompressStart(std::string_view compressed, char* text,
                                             size_t size) const {
  return Check(LZ4_decompress_safe_partial_usingDict(compressed.data(), text,
                                                     Int(compressed.size()), Int(size), Int(size),
                                                     bytes_.data(), Int(bytes_.size())),
               size);
}

}  // namespace mandate
