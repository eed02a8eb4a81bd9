// The state that all parts of the double share.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>

#include "manager/core/executor.h"
#include "manager/core/weak_self.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/plugin.h"
#include "testing/apiserver/store.h"
#include "testing/apiserver/watch.h"

namespace mandate::apiserver {

// Loop thread only. It outlives the objects that borrow it.
struct Core {
  Core(Loop& on, uint64_t seed, Store::Options store_options)
      : loop(on), random(seed), store(store_options) {}

  // The time in the format of metadata: whole seconds, UTC.
  std::string Now() const;
  // A random UUID.
  std::string NewUid();
  // The server's suffix of a generateName: five letters and digits.
  std::string NewSuffix();
  // Runs `task` on the loop, later, unless this object has been destroyed by then.
  void Post(std::function<void()> task);

  Loop& loop;
  std::mt19937_64 random;
  Store store;
  Kinds kinds;
  WriteHooks* hooks = nullptr;  // null: no checks
  WatchOptions watch;
  WeakSelf weak = {};
};

}  // namespace mandate::apiserver
