// Runs work on several threads.
#ifndef RBACGEN_MARKERS_PARALLEL_H_
#define RBACGEN_MARKERS_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace mandate::rbacgen {

// Calls work(0) … work(count - 1), each once, in any order, on at most `threads` threads, of which
// the caller's is one. Returns when all have returned.
void InParallel(size_t count, size_t threads, const std::function<void(size_t)>& work);

// As many threads as the machine runs at once, up to the number that speeds up reading files. 0 if
// that is unknown: InParallel() then uses only the caller's thread.
size_t UsefulThreads();

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_PARALLEL_H_
