// The block of docs/access-changes.md, with what its reader has at that place.
#include "controllers/access_observer/access_observer.h"
#include "controllers/memcached/reconciler.h"
#include "manager/manager.h"

namespace mandate::docs {

auto MakeManager(ManagerOptions options) {
  return
#include "testing/docs/access_changes_1.inc"
}

}  // namespace mandate::docs
