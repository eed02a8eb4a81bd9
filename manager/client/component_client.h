// The RestClient of one identity: guard, retries, in-flight limit, token, watches.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "manager/client/auth_layer.h"
#include "manager/client/client_metrics.h"
#include "manager/client/client_options.h"
#include "manager/client/guard.h"
#include "manager/client/in_flight_limit_layer.h"
#include "manager/client/rest_client.h"
#include "manager/client/retry_layer.h"
#include "manager/core/weak_self.h"

namespace mandate {

// Rejects requests that the mandate does not declare, before anything is sent. Other calls pass
// through the retry, in-flight limit and auth layers; watches pass only through auth.
//
// Send() and Do() from any thread; everything else, the destructor included, on the loop thread.
class ComponentClient : public RestClient {
 public:
  using Options = ClientOptions;

  // kInvalidArgument for a missing part, or a mandate that is another component's.
  static absl::StatusOr<std::unique_ptr<ComponentClient>> Create(Options options);
  // Calls and watches that are open end with kCancelled, later on the loop.
  ~ComponentClient() override = default;

  void Send(const CallContext& context, RestRequest request, Done done) override;
  [[nodiscard]] std::unique_ptr<Stream> Watch(RestRequest request,
                                              std::shared_ptr<StreamSink> sink) override;
  std::string_view component() const override { return options_.identity->name(); }
  Loop& loop() override { return *options_.loop; }

 private:
  explicit ComponentClient(Options options);

  const Options options_;
  const Guard guard_;
  ClientMetrics metrics_;
  AuthLayer auth_;
  InFlightLimitLayer in_flight_limit_;
  RetryLayer retry_;
  WeakSelf weak_;
};

}  // namespace mandate
