#include "manager/object/byte_dictionary.h"

// The magicless format, and training with chosen parameters.
#define ZSTD_STATIC_LINKING_ONLY
#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>

#include "manager/core/scratch.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// A fast level: most of the gain comes from the dictionary.
constexpr int kLevel = -3;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Small texts: what each need not say about itself is left out.
ZSTD_CCtx* Compressor() {
  thread_local const auto context = [] {
    std::unique_ptr<ZSTD_CCtx, FreeContext> made(ZSTD_createCCtx());
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_format, ZSTD_f_zstd1_magicless);
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_checksumFlag, 0);
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_dictIDFlag, 0);
    // The dictionary's table is used where it is. By default it is copied for each text.
    ZSTD_CCtx_setParameter(made.get(), ZSTD_c_forceAttachDict, ZSTD_dictForceAttach);
    return made;
  }();
  return context.get();
}

ZSTD_DCtx* Decompressor() {
  thread_local const auto context = [] {
    std::unique_ptr<ZSTD_DCtx, FreeContext> made(ZSTD_createDCtx());
    ZSTD_DCtx_setParameter(made.get(), ZSTD_d_format, ZSTD_f_zstd1_magicless);
    return made;
  }();
  return context.get();
}

// The parameters of zstd's own fast training, without its search for better ones.
ZDICT_fastCover_params_t TrainingParameters() {
  ZDICT_fastCover_params_t parameters = {};
  parameters.k = 1000;
  parameters.d = 8;
  parameters.f = 18;
  parameters.accel = 4;
  parameters.zParams.compressionLevel = kLevel;
  return parameters;
}

// Tuned by B14 (docs/decisions/2026-11-27-objects-are-held-compressed.md).
ZSTD_compressionParameters CompressionParameters(size_t dictionary_bytes) {
  ZSTD_compressionParameters parameters = ZSTD_getCParams(kLevel, 0, dictionary_bytes);
  parameters.hashLog = 14;
  parameters.minMatch = 6;
  return parameters;
}

}  // namespace

void ByteDictionary::Free::operator()(ZSTD_CDict_s* dictionary) const {
  ZSTD_freeCDict(dictionary);
}

void ByteDictionary::Free::operator()(ZSTD_DDict_s* dictionary) const {
  ZSTD_freeDDict(dictionary);
}

ByteDictionary::ByteDictionary(std::string_view bytes)
    : compress_(ZSTD_createCDict_advanced(bytes.data(), bytes.size(), ZSTD_dlm_byCopy,
                                          ZSTD_dct_auto, CompressionParameters(bytes.size()),
                                          ZSTD_defaultCMem)),
      decompress_(ZSTD_createDDict(bytes.data(), bytes.size())) {}

absl::StatusOr<std::shared_ptr<const ByteDictionary>> ByteDictionary::Train(
    const std::vector<std::string>& samples, size_t max_bytes) {
  std::string all;
  std::vector<size_t> sizes;
  for (const std::string& sample : samples) {
    all += sample;
    sizes.push_back(sample.size());
  }
  std::string bytes(max_bytes, '\0');
  const size_t size =
      ZDICT_trainFromBuffer_fastCover(bytes.data(), bytes.size(), all.data(), sizes.data(),
                                      static_cast<unsigned>(sizes.size()), TrainingParameters());
  if (ZDICT_isError(size) != 0) {
    return absl::FailedPreconditionError(StrCat("no dictionary can be made of ", samples.size(),
                                                " samples: ", ZDICT_getErrorName(size)));
  }
  return std::shared_ptr<const ByteDictionary>(
      new ByteDictionary(std::string_view(bytes).substr(0, size)));
}

void ByteDictionary::Compress(std::string_view text,
                              absl::FunctionRef<void(std::string_view)> use) const {
  ZSTD_CCtx* const context = Compressor();
  ZSTD_CCtx_refCDict(context, compress_.get());
  Scratch room(ZSTD_compressBound(text.size()));
  // It cannot fail: there is room for the worst case.
  use({room.data(), ZSTD_compress2(context, room.data(), room.size(), text.data(), text.size())});
}

absl::Status ByteDictionary::Decompress(std::string_view compressed, char* text,
                                        size_t size) const {
  ZSTD_DCtx* const context = Decompressor();
  ZSTD_DCtx_refDDict(context, decompress_.get());
  const size_t written =
      ZSTD_decompressDCtx(context, text, size, compressed.data(), compressed.size());
  if (ZSTD_isError(written) != 0) {
    return absl::InternalError(
        StrCat("compressed bytes cannot be read: ", ZSTD_getErrorName(written)));
  }
  if (written == size) return absl::OkStatus();
  return absl::InternalError(
      StrCat("the decompressed text has ", written, " bytes instead of ", size));
}

}  // namespace mandate
