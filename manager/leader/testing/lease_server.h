// One Lease on the double of the API server (testing/apiserver), and the clients of several
// processes, each with its own faults and clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/coordination_v1.h"
#include "testing/apiserver/server_core.h"

namespace mandate {

// A double with the namespace of the Lease "system/leader". Single-threaded.
class LeaseServer {
 public:
  explicit LeaseServer(Loop& loop);  // `loop` outlives this

  // Adds an empty Lease.
  void Create();
  void Delete();
  coordinationv1::LeaseSpec spec() { return lease().spec(); }
  // Edits the Lease as an administrator would.
  void Edit(const std::function<void(coordinationv1::Lease&)>& change);
  // Updates that succeeded.
  int writes() const { return writes_; }

  HttpResponse Answer(const RestRequest& request);

 private:
  coordinationv1::Lease lease();

  apiserver::ServerCore core_;
  int writes_ = 0;
};

// The loop of one machine. Its wall clock differs from the true time by a constant offset.
class SkewedLoop : public Loop {
 public:
  SkewedLoop(SimulatedLoop& loop, absl::Duration skew) : loop_(loop), clock_(loop, skew) {}
  void Post(Task task) override { loop_.Post(std::move(task)); }
  std::unique_ptr<Timer> RunAt(absl::Time when, Task task) override {
    return loop_.RunAt(when, std::move(task));
  }
  bool IsCurrent() const override { return true; }
  const Clock& clock() const override { return clock_; }

 private:
  class SkewedClock : public Clock {
   public:
    SkewedClock(SimulatedLoop& loop, absl::Duration skew) : loop_(loop), skew_(skew) {}
    absl::Time TimeNow() const override { return loop_.clock().TimeNow(); }
    absl::Time WallTimeNow() const override { return loop_.clock().WallTimeNow() + skew_; }

   private:
    SimulatedLoop& loop_;
    const absl::Duration skew_;
  };

  SimulatedLoop& loop_;
  SkewedClock clock_;
};

// The client of one process. Its destruction drops the requests under way.
class LossyLeaseClient : public RestClient {
 public:
  // The fate of one request.
  struct Fault {
    absl::Duration there = absl::Milliseconds(1);  // until the server acts
    absl::Duration back = absl::Milliseconds(1);
    bool lost = false;        // the server never gets it; the client waits until its deadline
    bool reply_lost = false;  // the server acts; the client waits until its deadline
    absl::Status error = {};  // if not OK, it fails at once
    std::optional<HttpResponse> reply = {};  // instead of the server's response
  };

  LossyLeaseClient(LeaseServer& server, SimulatedLoop& loop, absl::Duration skew);
  ~LossyLeaseClient() override;

  // Called for each request; may be null.
  std::function<Fault(const RestRequest&)> fault;
  std::vector<std::pair<absl::Time, RestRequest>> requests;

  void Send(const CallContext& context, RestRequest request, Done done) override;
  std::unique_ptr<Stream> Watch(RestRequest, std::shared_ptr<StreamSink>) override {
    return nullptr;
  }
  std::string_view component() const override { return "base"; }
  Loop& loop() override { return loop_; }

 private:
  struct Call;

  LeaseServer& server_;
  SimulatedLoop& simulated_;
  SkewedLoop loop_;
  std::set<std::shared_ptr<Call>> calls_;
};

}  // namespace mandate
