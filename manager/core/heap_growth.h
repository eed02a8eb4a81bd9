// How fast the heap of a thread grows.
#pragma once

#include <cstddef>

namespace mandate {

// The calling thread will soon keep about this many bytes more, in small blocks. Makes room for
// them in larger steps: for a thread that is not the main one, glibc's malloc() asks the kernel for
// 4 KiB at a time (sysmalloc() of glibc 2.36; M_TOP_PAD has no effect there), which takes a tenth
// of the time in which a list of 100,000 objects is stored.
void GrowHeapFor(size_t bytes);

}  // namespace mandate
