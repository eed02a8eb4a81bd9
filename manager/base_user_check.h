// Notices when the manager's own credential becomes another user's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"

namespace mandate {

// A check of the user of each new token (SelfSubjectReview). A process that can write base's token
// file, or the output of its plugin, could give the manager another user's token, and with it that
// user's permissions.
//
// Create, call and destroy it on the loop.
class BaseUserCheck {
 public:
  struct Options {
    RestClient* base = nullptr;  // outlives this
    // The user of the first token, "system:serviceaccount:ns:mandate-manager".
    std::string username;
    // The delay between a try without an answer and the next, and the limit of one try.
    absl::Duration period = absl::Seconds(10);
    // kFailedPrecondition: the token is of another user. At most once, on the loop.
    std::function<void(absl::Status)> on_other_user;
  };

  // Asks at once: the token may be another since `username` was found.
  explicit BaseUserCheck(Options options);
  ~BaseUserCheck();

  void OnNewToken();

 private:
  struct State;
  static void Ask(const std::shared_ptr<State>& state);
  static void OnAnswer(const std::shared_ptr<State>& state,
                       const absl::StatusOr<HttpResponse>& answer);

  std::shared_ptr<State> state_;
};

}  // namespace mandate
