// Work on many files at once.
#ifndef RBACGEN_MARKERS_PARALLEL_H_
#define RBACGEN_MARKERS_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace mandate::rbacgen {

// Calls work(0) … work(count - 1), each once, in any order, on at most `threads` threads, of which
// the caller's is one. Returns when all have returned.
void InParallel(size_t count, size_t threads, const std::function<void(size_t)>& work);

// As many threads as the machine runs at once, and no more than reading files gains from. 0 if the
// machine does not tell: InParallel() then uses the caller's alone.
size_t UsefulThreads();

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_PARALLEL_H_
