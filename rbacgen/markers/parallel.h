// Runs work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace mandate::rbacgen {

// Calls work(0) … work(count - 1) once each, in any order, on at most `threads` threads including
// the caller's. Returns when all calls have returned.
void InParallel(size_t count, size_t threads, const std::function<void(size_t)>& work);

// The number of threads that the machine runs at once, but at most the number that speeds up
// reading files. 0 if it is unknown; InParallel() then uses only the caller's thread.
size_t UsefulThreads();

}  // namespace mandate::rbacgen
