// Notices when the manager's own credential becomes somebody else's.
#ifndef MANAGER_BASE_USER_CHECK_H_
#define MANAGER_BASE_USER_CHECK_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"

namespace mandate {

// Whoever can write base's token file, or what its plugin prints, could hand the manager another
// user's token, and with it that user's rights. So the server is asked about each new token whose
// it is (SelfSubjectReview).
//
// Create, call and destroy it on the loop.
class BaseUserCheck {
 public:
  struct Options {
    RestClient* base = nullptr;  // outlives this
    // The user of the first token, "system:serviceaccount:ns:mandate-manager".
    std::string username;
    // Until the next try when there was no answer, and the most that one may take.
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

#endif  // MANAGER_BASE_USER_CHECK_H_
