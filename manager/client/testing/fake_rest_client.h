// A RestClient with scripted answers.
//
//   FakeRestClient client(loop, "scope-instance");
//   client.Handle([](const RestRequest&) { return FakeRestClient::Json(200, "{…}"); });
//   client.OnWatch([](const std::shared_ptr<FakeWatch>& watch) { watch->Open(); });
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manager/client/rest_client.h"
#include "manager/core/executor.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {

// The server's end of a watch. Its events reach the client as tasks of the loop, in order; after
// its end, or after the client has cancelled it, none do. Loop thread only.
class FakeWatch : public std::enable_shared_from_this<FakeWatch> {
 public:
  FakeWatch(Loop& loop, RestRequest request, std::shared_ptr<StreamSink> sink)
      : loop_(loop), request_(std::move(request)), sink_(std::move(sink)) {}

  const RestRequest& request() const { return request_; }
  // A parameter of the query, unescaped; "" if it is missing.
  std::string Query(std::string_view name) const;

  void Open(std::string content_type = "application/json");
  void Send(std::string bytes);
  // OK: the server ended it; an error: the connection failed.
  void Close(absl::Status status = absl::OkStatus());
  // Answers with a code other than 2xx instead of opening.
  void Refuse(int code, std::string body);

  bool opened() const { return opened_; }
  bool cancelled() const { return cancelled_; }
  // Runs once, when the client cancels the watch; not after its end.
  void OnCancelled(std::function<void()> callback) { on_cancelled_ = std::move(callback); }
  // Neither ended nor cancelled.
  bool live() const { return !ended_ && !cancelled_; }

 private:
  friend class FakeRestClient;
  class Handle;
  void Post(std::function<void()> task);
  void Cancel();

  Loop& loop_;
  const RestRequest request_;
  std::shared_ptr<StreamSink> sink_;
  bool opened_ = false;
  bool ended_ = false;
  bool cancelled_ = false;
  std::function<void()> on_cancelled_;
};

// Single-threaded, on a SimulatedLoop.
class FakeRestClient : public RestClient {
 public:
  using Handler = std::function<absl::StatusOr<HttpResponse>(const RestRequest&)>;

  FakeRestClient(SimulatedLoop& loop, std::string component)
      : loop_(loop), component_(std::move(component)) {}

  static HttpResponse Json(int code, std::string body);

  // Answers requests; codes other than 2xx become errors as with RestClient.
  void Handle(Handler handler);
  // The same for a server that answers later: it calls `reply` once. The handler set last counts.
  using Reply = std::function<void(absl::StatusOr<HttpResponse>)>;
  using LateHandler = std::function<void(const RestRequest&, Reply reply)>;
  void HandleLate(LateHandler handler) { handler_ = std::move(handler); }
  // Gets each watch, in a task of the loop.
  void OnWatch(std::function<void(const std::shared_ptr<FakeWatch>&)> on_watch) {
    on_watch_ = std::move(on_watch);
  }

  // How long each request and each response travels; called for each. Not for watches.
  void SetDelay(std::function<absl::Duration()> delay) { delay_ = std::move(delay); }

  // "GET /apis/…", lists and watches alike, in order.
  const std::vector<std::string>& requests() const { return requests_; }
  void ForgetRequests() { requests_.clear(); }
  size_t Count(std::string_view part) const;
  const std::vector<std::shared_ptr<FakeWatch>>& watches() const { return watches_; }
  size_t live_watches() const;

  void Send(const CallContext& context, RestRequest request, Done done) override;
  std::unique_ptr<Stream> Watch(RestRequest request, std::shared_ptr<StreamSink> sink) override;
  std::string_view component() const override { return component_; }
  Loop& loop() override { return loop_; }

 private:
  absl::Time NextArrival() const;

  SimulatedLoop& loop_;
  const std::string component_;
  std::function<absl::Duration()> delay_;
  LateHandler handler_;
  std::function<void(const std::shared_ptr<FakeWatch>&)> on_watch_;
  std::vector<std::string> requests_;
  std::vector<std::shared_ptr<FakeWatch>> watches_;
};

// A parameter of a request's target, unescaped; "" if it is missing.
std::string QueryOf(std::string_view target, std::string_view name);

}  // namespace mandate
