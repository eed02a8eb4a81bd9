#include "manager/client/rest_client.h"

#include <memory>

#include "manager/core/executor.h"
#include "manager/core/not_sent.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

struct Answer {
  Latch latch;
  absl::StatusOr<HttpResponse> result = absl::CancelledError("the loop has stopped");
};

// A loop that stops destroys its tasks, and with them the callback that would have answered: then
// the waiter gets the initial answer.
class Promise {
 public:
  explicit Promise(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  Promise(Promise&&) = default;
  ~Promise() {
    if (answer_ != nullptr) answer_->latch.Set();
  }
  void Keep(absl::StatusOr<HttpResponse> result) { answer_->result = std::move(result); }

 private:
  // Shared with the waiter's frame, which may end before this does.
  std::shared_ptr<Answer> answer_;
};

}  // namespace

absl::StatusOr<HttpResponse> RestClient::Do(const CallContext& context, RestRequest request) {
  if (!loop().CanAwait()) {
    return MarkNotSent(absl::FailedPreconditionError(
        StrCat(request.ToString(),
               ": a blocking request was made on the event loop; send it from a worker")));
  }
  auto answer = std::make_shared<Answer>();
  Send(context, std::move(request),
       [promise = Promise(answer)](absl::StatusOr<HttpResponse> result) mutable {
         Promise(std::move(promise)).Keep(std::move(result));
       });
  loop().Await(answer->latch);
  return std::move(answer->result);
}

}  // namespace mandate
