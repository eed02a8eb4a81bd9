#include "manager/client/rest_client.h"

#include <memory>

#include "manager/core/executor.h"

namespace mandate {

absl::StatusOr<HttpResponse> RestClient::Do(const CallContext& context, RestRequest request) {
  // Shared: when the loop stops for good the answer never comes to this frame, but may still be
  // destroyed after it.
  struct Answer {
    Latch latch;
    absl::StatusOr<HttpResponse> result = absl::UnknownError("no answer");
  };
  auto answer = std::make_shared<Answer>();
  Send(context, std::move(request), [answer](absl::StatusOr<HttpResponse> result) {
    answer->result = std::move(result);
    answer->latch.Set();
  });
  loop().Await(answer->latch);
  return std::move(answer->result);
}

}  // namespace mandate
