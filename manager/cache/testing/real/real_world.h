// A ModelWorld on a real kube-apiserver, in real time.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "manager/cache/testing/model/model_world.h"
#include "manager/cache/testing/real/real_server.h"

namespace mandate::model {

// What differs from the double, and how the model allows for it:
//
//   a change of RBAC takes effect later       until then both answers are right: a loss counts from
//                                             the write, with lateness(); the state at the calm is
//                                             checked after AwaitAccess()
//   a write's version is known by the answer  nothing arrives from the request to the answer
//   timers are late, and tasks wait           lateness()
//   a wider stream learns at its next event   AwaitNoViolation() changes objects
//   or bookmark, up to a minute later, that
//   it is not behind a narrower one
//
// It is created and destroyed on the loop. The functions that change the server are for the
// program's thread. Only they return errors, and an error is the server's or the program's, not the
// cache's.
class RealWorld : public ModelWorld {
 public:
  // `server` outlives the world.
  RealWorld(RealServer& server, uint64_t seed);
  ~RealWorld() override;

  // Removes the objects and bindings of earlier runs.
  absl::Status Clear();

  // Objects. A component that writes knows of it. `then` runs as soon as the history knows it.
  absl::Status Put(const ObjectKey& key, const ObjectLabels& labels, Component* writer = nullptr,
                   const std::function<void()>& then = nullptr);
  absl::Status Delete(const ObjectKey& key, const std::function<void()>& then = nullptr);

  // Access, by bindings; they do not consider selectors. No effect if the grant exists, or does
  // not.
  absl::Status Grant(const Component& component, const WatchScope& demanded);
  absl::Status Revoke(const Component& component, const WatchScope& demanded);
  // Waits until the server decides as the grants say.
  absl::Status AwaitAccess();

  // The component has no credential, until its client restores it. The server does not know.
  void LoseCredential(Component& component);

  void Pause(Static& demand);
  void Resume(Static& demand);

  // Runs `check` on the quiet loop until it adds no violations; the last ones count. If that takes
  // long, an object of each namespace changes now and then.
  absl::Status AwaitNoViolation(absl::FunctionRef<void(Violations&)> check);

 private:
  int ServerVersion() const override { return history_.version(); }
  void Choose(uint64_t seed);

  RealServer& server_;
  std::set<ComponentDemand> bound_;  // the bindings that exist
  int writes_ = 0;
};

}  // namespace mandate::model
