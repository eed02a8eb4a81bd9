// A ConnectionBudget with scripted connections, in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/connection_budget.h"
#include "manager/transport/testing/scripted_codec.h"

namespace mandate {

// Records its end. Single-threaded.
class NotingRequest : public ActiveRequest {
 public:
  NotingRequest(HttpRequest request, std::map<std::string, absl::Status>& ends)
      : ActiveRequest(std::move(request)), ends_(ends) {}
  bool OnHeaders(const HttpResponse&) override { return true; }
  bool OnBody(std::string_view) override { return true; }
  void Cancel() { EndEarly(absl::CancelledError("nobody waits for it")); }
  void RunOutOfTime() { EndTimedOut(absl::DeadlineExceededError("too late")); }

 private:
  void OnEnd(absl::Status status) override { ends_[request().target] = std::move(status); }
  std::map<std::string, absl::Status>& ends_;
};

// Single-threaded.
class ConnectionBudgetTest : public testing::Test {
 protected:
  ConnectionBudgetTest() { UseNewBudget(4); }
  ~ConnectionBudgetTest() override { budget_->Shutdown(absl::CancelledError("the end")); }

  void UseNewBudget(size_t connections, std::function<void()> in_doubt = nullptr) {
    if (budget_.has_value()) budget_->Shutdown(absl::CancelledError("the end"));
    loop_.RunReady();
    budget_.emplace(ConnectionContext{loop_, options_, stats_, new_codec_, std::move(in_doubt)},
                    connections, [this] { loop_.Post([this] { budget_->Dispatch(); }); });
  }

  // Submits a request; the budget acts on it in a later task.
  std::shared_ptr<NotingRequest> Post(const std::string& target, const std::string& component,
                                      const std::string& server = "https://server") {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = server;
    endpoint->ca_pem = "CA";
    HttpRequest request(std::move(endpoint),
                        BearerToken{std::make_shared<const Secret>(std::string("token"))}, "POST",
                        target);
    request.user_agent = component;
    const auto active = std::make_shared<NotingRequest>(std::move(request), ends_);
    EXPECT_EQ(budget_->Submit(active), absl::OkStatus());
    return active;
  }

  std::shared_ptr<NotingRequest> Submit(const std::string& target,
                                        const std::string& component = "a",
                                        const std::string& server = "https://server") {
    const auto active = Post(target, component, server);
    loop_.RunReady();
    return active;
  }

  // Sends the first requests of `count` connections, which are then open.
  void Connect(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Submit("/first/" + std::to_string(i));
      // A time after which others no longer wait for the connection.
      loop_.RunFor(options_.suspect_connection_after);
    }
    ASSERT_EQ(network_.size(), count);
    for (size_t i = 0; i < count; ++i) {
      network_.codec(i).Answer("/first/" + std::to_string(i));
      Finish(i, "/first/" + std::to_string(i));
    }
    loop_.RunReady();
  }

  // The response to a request on this connection is complete.
  void Finish(size_t codec, const std::string& target) {
    network_.codec(codec).End(target, {.status = absl::OkStatus(), .received = true});
  }

  size_t CodecOf(const std::string& target) {
    for (size_t i = 0; i < network_.size(); ++i) {
      if (network_.codec(i).Has(target)) return i;
    }
    ADD_FAILURE() << target << " is on no connection";
    return 0;
  }

  SimulatedLoop loop_;
  HttpOptions options_ = {.streams_per_connection = 100, .read_idle_timeout = absl::Hours(24)};
  HttpStats stats_;
  ScriptedNetwork network_;
  ClientCodecFactory new_codec_ = network_.NewCodec();
  std::map<std::string, absl::Status> ends_;
  std::optional<ConnectionBudget> budget_;
};

}  // namespace mandate
