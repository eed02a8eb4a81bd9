// Finds out that a component's token is over although the component has nothing to do.
#ifndef MANAGER_TOKEN_CHECK_H_
#define MANAGER_TOKEN_CHECK_H_

#include <memory>

#include "absl/time/time.h"
#include "manager/client/rest_client.h"

namespace mandate {

// A server looks at a token when a request comes, and never again at that of an open watch. So this
// sends a SelfSubjectReview each period; its client closes the watches that a rejected token
// opened, and asks for the next token, as after any 401. With tokens bound to a Secret that is the
// kill switch of an idle component.
//
// Create(), Start() and destroy it on the loop.
class TokenCheck {
 public:
  struct Options {
    RestClient* client = nullptr;  // outlives this
    // From the end of one check to the next, and the most that one may take.
    absl::Duration period = absl::Seconds(10);
    // Until the first: checks of several components need not come together.
    absl::Duration first = absl::Seconds(10);
  };

  explicit TokenCheck(const Options& options);
  ~TokenCheck();

  void Start();

 private:
  struct State;
  static void Check(const std::shared_ptr<State>& state);
  static void CheckIn(const std::shared_ptr<State>& state, absl::Duration wait);

  std::shared_ptr<State> state_;
};

}  // namespace mandate

#endif  // MANAGER_TOKEN_CHECK_H_
