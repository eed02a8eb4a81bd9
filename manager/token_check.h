// Notices that the token of an idle component was revoked.
#pragma once

#include <memory>

#include "absl/time/time.h"
#include "manager/client/rest_client.h"

namespace mandate {

// A periodic SelfSubjectReview with a component's token. A server checks a token when a request
// arrives, and never again while a watch is open. After a 401 the client closes the watches that
// the token opened, and requests the next token. With tokens bound to a Secret this is the kill
// switch of an idle component.
//
// Create(), Start() and destroy it on the loop.
class TokenCheck {
 public:
  struct Options {
    RestClient* client = nullptr;  // outlives this
    // The delay between the end of one check and the next, and the limit of one check.
    absl::Duration period = absl::Seconds(10);
    // The delay before the first check, so that components are not all checked at once.
    absl::Duration initial_delay = absl::Seconds(10);
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
