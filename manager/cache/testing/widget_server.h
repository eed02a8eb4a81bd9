// The double of an API server (testing/apiserver) behind FakeRestClients. It has one custom kind,
// kWidget, and components that gain and lose the right to read it.
//
//   WidgetServer server(loop, seed);
//   server.Serve(client);
//   server.Grant("scope-instance");
//   server.Put("foo/x");
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "manager/cache/cache_view.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"
#include "testing/apiserver/server_core.h"

namespace mandate {

// Single-threaded. Outlives its tasks on the loop, and its clients' watches.
class WidgetServer {
 public:
  // Each is the probability for one request or frame.
  struct Faults {
    double refuse_watch = 0;   // 410, 429, 500, no connection
    double refuse_list = 0;    // the same, and 404
    double expire_page = 0;    // 410 at a later page
    double no_watch_list = 0;  // 400 to sendInitialEvents
    double cut = 0;            // a live watch ends, cleanly or not, or by an ERROR event
    double garbage = 0;        // a frame that is not valid
    double drop_bookmark = 0;
    double refuse_review = 0;  // no answer to a review
    absl::Duration delay;      // of the frames of a watch, at most
    double no_response = 0;    // a list, watch or review is never answered
    double unauthorized = 0;   // 401 to a list or a watch
    double close_at_once = 0;  // a watch ends before its first frame
    double stall = 0;          // a watch sends a few frames and then none
    double slow_list = 0;      // a list is answered after list_delay
    absl::Duration list_delay = absl::ZeroDuration();

    bool operator==(const Faults&) const = default;
  };

  // The revision from which a test counts: the first widget is one more.
  static constexpr int kStart = 100;

  // `keys` ("foo/x") are the objects to read which a right of its own can be granted.
  WidgetServer(SimulatedLoop& loop, uint64_t seed, const std::vector<std::string>& keys = {});

  void Serve(FakeRestClient& client);

  Faults& faults() { return faults_; }

  // The right to list and watch; `where` empty: everywhere; foo, bar or baz: a namespace;
  // "namespaces": these objects, and no widgets; else one of the constructor's keys. Open watches
  // stay open, as on a real server. It needs no revision, because only the user's groups change.
  void Grant(const std::string& component, const std::string& where = "");
  void Revoke(const std::string& component, const std::string& where = "");
  // Whether the component may list and watch this scope.
  bool Allows(const std::string& component, const std::string& ns) const;

  // Adds or changes; returns the revision.
  int Put(const std::string& key, const std::map<std::string, std::string>& labels = {});
  int Delete(const std::string& key);
  // The object alone: widgets and rights stay.
  void PutNamespace(const std::string& name);
  void DeleteNamespace(const std::string& name);
  // Ends all watches like a broken connection, and fails all requests until `downtime` has passed.
  void Restart(absl::Duration downtime);
  // Forgets the history up to now: a watch from an earlier revision gets a 410.
  void Compact();
  // The kind is served; without it everything is 404.
  void SetServed(bool served);

  int revision() const;
  // As Text() writes it.
  std::string Content(const DemandSpec& spec) const;
  size_t live_watches() const;

 private:
  class CallExchange;
  class WatchExchange;

  apiserver::Request ToRequest(const std::string& component, const RestRequest& request) const;
  void SetGroups(const std::string& component);
  void Serve(std::shared_ptr<apiserver::Exchange> exchange);
  void AddRules();
  bool Roll(double probability);

  SimulatedLoop& loop_;
  std::mt19937_64 random_;
  std::unique_ptr<apiserver::ServerCore> core_;
  Faults faults_;
  Faults applied_;  // as rules of the double
  bool served_ = true;
  absl::Time down_until_ = absl::InfinitePast();
  uint64_t serial_ = 0;
  std::set<std::pair<std::string, std::string>> rights_;
  std::vector<std::shared_ptr<FakeWatch>> watches_;            // live, and some that are over
  std::vector<std::weak_ptr<apiserver::Exchange>> exchanges_;  // of these
};

}  // namespace mandate
