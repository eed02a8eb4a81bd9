// The bindings that must change or be deleted before a ScopeTemplate creates or widens a role.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate::scope {

// A template is reconciled when the last of its bindings has changed, and not for each of them, as
// each reconcile reads them all. Bindings are texts like "RoleBinding foo/x". Thread-safe; one
// thread at a time calls TrackUntilChanged() for a template.
class AwaitedBindings {
 public:
  using ByRole = std::map<std::string, std::set<std::string>, std::less<>>;

  // Calls `read`, and waits for the bindings in its result instead of the previous ones. False if
  // all bindings of one role changed while they were read, so that no event will follow.
  [[nodiscard]] bool TrackUntilChanged(const ObjectKey& of, absl::FunctionRef<ByRole()> read)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(const ObjectKey& of) ABSL_LOCKS_EXCLUDED(mutex_);

  // Reports that a binding of the role was changed or deleted. True if it was the last one that the
  // template waits for with that role.
  [[nodiscard]] bool NoteChange(const ObjectKey& of, std::string_view role,
                                const std::string& binding) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct State {
    bool reading = false;
    ByRole awaited = {};
    std::set<std::string> changed = {};  // while the bindings are read
  };

  Mutex mutex_;
  std::map<ObjectKey, State> states_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate::scope
