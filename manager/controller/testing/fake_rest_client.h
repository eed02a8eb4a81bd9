// A component's client whose server is a function.
#ifndef MANAGER_CONTROLLER_TESTING_FAKE_REST_CLIENT_H_
#define MANAGER_CONTROLLER_TESTING_FAKE_REST_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/client/rest_client.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {

// Answers each request a millisecond later. Single-threaded.
class FakeRestClient : public RestClient {
 public:
  using Server = std::function<absl::StatusOr<HttpResponse>(const RestRequest&)>;

  FakeRestClient(SimulatedLoop& loop, std::string component)
      : loop_(loop), component_(std::move(component)) {}

  // By default everything succeeds, with an empty body.
  void SetServer(Server server) { server_ = std::move(server); }

  void Send(const CallContext& context, RestRequest request, Done done) override {
    const absl::Time when =
        std::min(loop_.clock().TimeNow() + absl::Milliseconds(1), context.deadline);
    loop_.PostAt(when, [this, request = std::move(request), done = std::move(done)]() mutable {
      requests.push_back(request);
      std::move(done)(server_ ? server_(request) : Ok());
    });
  }
  std::unique_ptr<Stream> Watch(RestRequest, std::shared_ptr<StreamSink>) override {
    return nullptr;
  }
  std::string_view component() const override { return component_; }
  Loop& loop() override { return loop_; }

  static HttpResponse Ok() {
    HttpResponse response;
    response.code = 200;
    return response;
  }

  std::vector<RestRequest> requests;

 private:
  SimulatedLoop& loop_;
  const std::string component_;
  Server server_;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_TESTING_FAKE_REST_CLIENT_H_
