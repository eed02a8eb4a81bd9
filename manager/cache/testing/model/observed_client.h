// A component's client on the double. It reports to the reference model what the component asks,
// and what it is told, before the cache gets to know it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "manager/cache/testing/model/access_ledger.h"
#include "manager/client/testing/fake_rest_client.h"

namespace mandate::model {

// Single-threaded, on a SimulatedLoop.
class ObservedClient : public FakeRestClient {
 public:
  // `ledger` outlives the client.
  ObservedClient(SimulatedLoop& loop, std::string component, AccessLedger& ledger);

  // A watch that the component has requested, and that has not ended.
  struct OpenWatch {
    std::shared_ptr<FakeWatch> watch;
    WatchScope scope;
    bool renews = false;    // it is to be closed at once, and only proves the access
    bool initial = false;   // it begins with the initial state
    bool complete = false;  // the initial state has arrived
    std::string tail;       // of the bytes so far

    // Whether what it delivers continues a complete state.
    bool follows() const { return !initial || complete; }
  };
  // Without those that are over.
  const std::vector<std::shared_ptr<OpenWatch>>& open_watches();
  // Watches and requests without an answer yet.
  size_t pending() { return open_watches().size() + unanswered_; }

  // Runs inside each call of the cache that sends a request.
  void OnSend(std::function<void()> hook) { on_send_ = std::move(hook); }

  // The credential is gone: watches end with a 401, and no more requests are sent.
  void Revoke();
  void Restore() { revoked_ = false; }
  bool revoked() const { return revoked_; }

  // Nothing that the server sends arrives. The end of it breaks the open watches.
  void SetMuted(bool muted);

  void Send(const CallContext& context, RestRequest request, Done done) override;
  std::unique_ptr<Stream> Watch(RestRequest request, std::shared_ptr<StreamSink> sink) override;

 private:
  class ObservedSink;
  struct Round;

  void Note(const WatchScope& scope, AccessLedger::Answer answer);
  // Returns `done`, which reports the answer first and is called at the deadline at the latest.
  Done WithDeadline(const CallContext& context, std::shared_ptr<BodySink>& body, Done done);
  Done ObserveReview(const std::string& body, std::stop_token stop, Done done);

  SimulatedLoop& loop_;
  AccessLedger& ledger_;
  std::function<void()> on_send_;
  std::vector<std::shared_ptr<OpenWatch>> open_;
  std::map<WatchScope, std::shared_ptr<Round>> rounds_;  // the last of each scope
  size_t unanswered_ = 0;
  bool revoked_ = false;
  bool muted_ = false;
};

}  // namespace mandate::model
