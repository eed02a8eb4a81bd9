#include "manager/core/core_dumps.h"

#include <sys/prctl.h>

namespace mandate {

// prctl() cannot fail with these values.
void ForbidCoreDumps() { prctl(PR_SET_DUMPABLE, 0); }
void AllowCoreDumps() { prctl(PR_SET_DUMPABLE, 1); }

}  // namespace mandate
