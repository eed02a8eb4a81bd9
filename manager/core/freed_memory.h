// Memory that is freed is overwritten first, so that Secrets, tokens and whatever else a component
// may no longer read do not stay in the process.
#pragma once

#include <cstddef>

namespace mandate {

// Replaces free() for C libraries. A program that links this has such an operator delete, too, and
// OpenSSL uses it from the start. Not under a sanitizer, which has its own.
void EraseAndFree(void* block) noexcept;
// The same for realloc().
void* EraseAndReallocate(void* block, size_t size) noexcept;

}  // namespace mandate
