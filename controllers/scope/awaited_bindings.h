// The bindings whose end, or change, a ScopeTemplate waits for before it makes or widens a role.
#ifndef CONTROLLERS_SCOPE_AWAITED_BINDINGS_H_
#define CONTROLLERS_SCOPE_AWAITED_BINDINGS_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate::scope {

// So that the template is reconciled once the last of them has changed, and not, reading all of
// them, for each. Bindings are texts like "RoleBinding foo/x". Thread-safe; a template's Await() is
// called by one thread at a time.
class AwaitedBindings {
 public:
  using ByRole = std::map<std::string, std::set<std::string>, std::less<>>;

  // Calls `read`, whose result replaces what the template waited for. False: all bindings that it
  // waits for with one role changed while they were read, so that no event will come.
  [[nodiscard]] bool Await(const ObjectKey& of, absl::FunctionRef<ByRole()> read)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(const ObjectKey& of) ABSL_LOCKS_EXCLUDED(mutex_);

  // A binding of the role was changed or deleted. True: it was the last for which the template
  // waits with that role.
  [[nodiscard]] bool NoteChange(const ObjectKey& of, std::string_view role,
                                const std::string& binding) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct State {
    bool reading = false;
    ByRole awaited = {};
    std::set<std::string> changed = {};  // while they are read
  };

  Mutex mutex_;
  std::map<ObjectKey, State> states_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_AWAITED_BINDINGS_H_
