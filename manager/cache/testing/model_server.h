// A tiny model of an API server for one kind (kWidget): a history of revisions, lists, watches,
// rights and access reviews, with faults by a seeded die. It never asks a store of ours anything:
// what it holds is what others are compared with.
#ifndef MANAGER_CACHE_TESTING_MODEL_SERVER_H_
#define MANAGER_CACHE_TESTING_MODEL_SERVER_H_

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kind.h"

namespace mandate {

// Single-threaded. Outlives what is under way on its loop, and its clients' watches.
class ModelServer {
 public:
  // Each a probability, of one request, frame or pump.
  struct Faults {
    double refuse_watch = 0;   // 410, 429, 500, no connection
    double refuse_list = 0;    // the same, and 404
    double expire_page = 0;    // 410 at a later page
    double no_watch_list = 0;  // 400 to sendInitialEvents
    double cut = 0;            // a live watch ends, cleanly or not, or by an ERROR event
    double garbage = 0;        // a frame that is none
    double drop_bookmark = 0;
    double refuse_review = 0;  // no answer to a review
    absl::Duration delay;      // of events, at most
  };

  ModelServer(SimulatedLoop& loop, uint64_t seed) : loop_(loop), random_(seed) {}

  void Serve(FakeRestClient& client);
  Faults& faults() { return faults_; }

  // The right to list and watch; `ns` empty: everywhere. Open watches stay open, as they do.
  void Grant(const std::string& component, const std::string& ns = "");
  void Revoke(const std::string& component, const std::string& ns = "");
  // Whether the component may list and watch this scope.
  bool Allows(const std::string& component, const std::string& ns) const;

  // Adds or changes; returns the revision.
  int Put(const std::string& key);
  int Delete(const std::string& key);
  // Forgets the history up to now: older watches end with 410.
  void Compact() { compacted_ = revision_; }
  // The kind is served; without it everything is 404.
  void SetServed(bool served) { served_ = served; }

  int revision() const { return revision_; }
  // As Text() has it.
  std::string Content(const DemandSpec& spec) const;
  size_t live_watches() const;

 private:
  struct Object {
    int version;
    std::string uid;
  };
  struct Change {
    int revision;
    std::string type;
    ObjectKey key;
    std::string json;
  };
  struct Session;
  struct Scope {
    std::string ns;
    std::string name;
    bool Covers(const ObjectKey& key) const {
      return (ns.empty() || ns == key.ns) && (name.empty() || name == key.name);
    }
  };

  bool Roll(double probability);
  static Scope ScopeOf(std::string_view target);
  absl::StatusOr<HttpResponse> List(const std::string& component, const RestRequest& request);
  absl::StatusOr<HttpResponse> Review(const std::string& component, const RestRequest& request);
  void Watch(const std::string& component, const std::shared_ptr<FakeWatch>& watch);
  void PumpLater(const std::shared_ptr<Session>& session);
  void Pump(Session& session);
  void Bookmarks(const std::shared_ptr<Session>& session);
  void SendSplit(FakeWatch& watch, const std::string& bytes);
  void Cut(FakeWatch& watch);

  SimulatedLoop& loop_;
  std::mt19937_64 random_;
  Faults faults_;
  bool served_ = true;
  int revision_ = 100;
  int compacted_ = 0;
  std::map<ObjectKey, Object> objects_;
  std::vector<Change> history_;
  std::set<std::pair<std::string, std::string>> rights_;
  std::vector<std::shared_ptr<Session>> sessions_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_TESTING_MODEL_SERVER_H_
