// A client between the cache and a component's own client. It reports each request and each
// response to the reference model, before the cache receives the response.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "manager/cache/testing/model/access_ledger.h"
#include "manager/client/rest_client.h"

namespace mandate::model {

// Loop thread only.
class ObservedClient : public RestClient {
 public:
  // Both outlive the client.
  // `reviews`: how many a check of access takes.
  ObservedClient(RestClient& inner, AccessLedger& ledger, int reviews);
  ~ObservedClient() override;

  // A watch that the component has requested, and that has not ended.
  struct OpenWatch {
    WatchScope scope;
    bool over = false;
    bool accepted = false;
    bool renews = false;    // it is to be closed at once, and only proves the access
    bool initial = false;   // it begins with the initial state
    bool complete = false;  // the initial state has arrived
    std::string tail;       // of the bytes so far

    // Whether what it delivers continues a complete state.
    bool follows() const { return !initial || complete; }
  };
  // Without those that are over.
  const std::vector<std::shared_ptr<OpenWatch>>& open_watches();
  // The number of requests and watches so far.
  size_t sent() const { return sent_; }

  // Runs inside each call of the cache that sends a request.
  void OnSend(std::function<void()> hook) { on_send_ = std::move(hook); }

  // Reviews do not name the selector. This scope is the only demanded one of its namespace.
  void TakeReviewsFor(const WatchScope& scope) { reviewed_[scope.WithoutSelector()] = scope; }

  // The credential is gone: watches end with a 401, and no more requests are sent.
  void Revoke();
  void Restore() { revoked_ = false; }
  bool revoked() const { return revoked_; }

  // Nothing that the server sends arrives. The end of it breaks the open watches.
  void SetMuted(bool muted);
  // The open watches end with this error.
  void EndWatches(const absl::Status& why);

  void Send(const CallContext& context, RestRequest request, Done done) override;
  std::unique_ptr<Stream> Watch(RestRequest request, std::shared_ptr<StreamSink> sink) override;
  std::string_view component() const override { return inner_.component(); }
  Loop& loop() override { return inner_.loop(); }

 private:
  class Call;
  class Handle;
  class ObservedSink;
  struct Round;

  void Note(const WatchScope& scope, AccessLedger::Answer answer);
  Done ObserveReview(const std::string& body, std::stop_token stop, Done done);

  RestClient& inner_;
  AccessLedger& ledger_;
  const int reviews_;
  std::function<void()> on_send_;
  std::vector<std::shared_ptr<OpenWatch>> open_;
  std::vector<std::weak_ptr<ObservedSink>> sinks_;
  std::vector<std::shared_ptr<Call>> calls_;
  std::map<WatchScope, WatchScope> reviewed_;            // by what a review names
  std::map<WatchScope, std::shared_ptr<Round>> rounds_;  // the last of each scope
  size_t sent_ = 0;
  bool revoked_ = false;
  bool muted_ = false;
};

}  // namespace mandate::model
