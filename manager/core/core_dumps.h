// Protects the process's memory, which has tokens, from other processes.
#pragma once

namespace mandate {

// From now on no core of this process is dumped, and no other process of its user may read its
// memory or attach a debugger (prctl(2), PR_SET_DUMPABLE). A program that the process executes is
// not protected.
void ForbidCoreDumps();
void AllowCoreDumps();

}  // namespace mandate
