// One reflector, in virtual time, with a scripted server.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/reflector.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {

// Lists are answered from `lists`, in order, and then with kUnavailable. The test serves the
// watches.
class ReflectorFixture : public ::testing::Test, protected Reflector::Owner {
 protected:
  ReflectorFixture() {
    client_.Handle([this](const RestRequest&) -> absl::StatusOr<HttpResponse> {
      if (lists_.empty()) return absl::UnavailableError("connection refused");
      HttpResponse response = std::move(lists_.front());
      lists_.pop_front();
      return response;
    });
  }

  void OnObjects(const std::vector<ObjectEvent>& events) override {
    if (!events_.empty()) events_ += " ";
    events_ += Text(events);
  }
  void OnReplaced(const std::shared_ptr<const ObjectSet>& before) override {
    events_ += events_.empty() ? "" : " ";
    events_ += "replaced(" + Text(*before) + ")";
  }
  void OnProgress() override { ++progress_; }
  void OnAccess() override { ++accesses_; }
  void OnRestored() override { ++restored_; }
  void OnFailure(const Reflector::Failure&) override { ++failures_; }
  void OnEvicted() override { ADD_FAILURE() << "no tenant demands the watch"; }
  void OnStatus(const DemandStatus& status) override {
    if (!states_.empty()) states_ += " ";
    states_ += std::string(ToString(status.state));
  }

  void Make() {
    reflector_ =
        std::make_unique<Reflector>(Reflector::Config{.spec = spec_,
                                                      .options = options_,
                                                      .random = random_,
                                                      .metrics = metrics_,
                                                      .budget = budget_,
                                                      .probes = probes_,
                                                      .flows = [this] { return flows_; },
                                                      .closer = closer_,
                                                      .log = {}},
                                    client_, store_, static_cast<Reflector::Owner&>(*this));
  }
  void StartWithoutTurns() {
    Make();
    reflector_->Start();
  }
  void Start() {
    StartWithoutTurns();
    loop_.RunReady();
  }
  void StartAndOpen() {
    Start();
    LastWatch().Open();
  }
  // Starts without the streaming list: the first answers to LIST are these.
  void StartWithList(int code, const std::string& body, int times = 1) {
    options_.watch_list = false;
    for (int i = 0; i < times; ++i) AddList(code, body);
    Start();
  }
  // Starts without the streaming list: LIST answers with `items` at `version`; the watch opens.
  FakeWatch& StartSynced(int version, std::vector<std::string> items = {}) {
    StartWithList(200, ListJson(StrCat(version), items));
    Open();
    EXPECT_EQ(state(), DemandState::kSynced);
    return LastWatch();
  }
  void AddList(int code, std::string body) {
    lists_.push_back(FakeRestClient::Json(code, std::move(body)));
  }

  // Ends the reflector, and forgets what it has left, for another one.
  void Reset() {
    reflector_.reset();
    store_.Replace({}, "");
    client_.ForgetRequests();
    lists_.clear();
  }

  // The server's end of the last watch; each call with its turns of the loop.
  FakeWatch& LastWatch() { return *client_.watches().back(); }
  void Open() {
    LastWatch().Open();
    loop_.RunReady();
  }
  void Send(const std::string& bytes) {
    LastWatch().Send(bytes);
    loop_.RunReady();
  }
  void Close(absl::Status status = absl::OkStatus()) {
    LastWatch().Close(std::move(status));
    loop_.RunReady();
  }
  // A watch that ends earlier counts as very short.
  void CloseAfterTwoSeconds() {
    loop_.RunFor(absl::Seconds(2));
    Close();
  }
  void Refuse(int code, std::string body) {
    LastWatch().Refuse(code, std::move(body));
    loop_.RunReady();
  }
  size_t watches() const { return client_.watches().size(); }
  size_t lists() const { return client_.requests().size() - watches(); }
  const std::string& LastRequest() const { return client_.requests().back(); }
  std::string LastQuery(std::string_view name) const { return QueryOf(LastRequest(), name); }
  // How long until there is one more request.
  absl::Duration TimeToRequest() {
    const size_t before = client_.requests().size();
    const absl::Time start = loop_.clock().TimeNow();
    EXPECT_TRUE(loop_.RunUntil([&] { return client_.requests().size() > before; }));
    return loop_.clock().TimeNow() - start;
  }
  // The same, and its answer.
  absl::Duration NextRequest() {
    const absl::Duration wait = TimeToRequest();
    loop_.RunReady();
    return wait;
  }
  // The next waits have these seconds, plus less than the part `jitter` of them.
  void ExpectWaits(std::initializer_list<double> waits, double jitter) {
    for (const double seconds : waits) {
      const absl::Duration wait = NextRequest();
      EXPECT_GE(wait, absl::Seconds(seconds));
      EXPECT_LT(wait, absl::Seconds((1 + jitter) * seconds));
    }
  }
  double Metric(const std::string& name) {
    const Labels labels = {{"kind", "widgets.example.com"}, {"scope", "cluster"}};
    if (name.ends_with("_total")) return metrics_.Counter(name, "", labels).Value();
    return metrics_.Gauge(name, "", labels).Value();
  }
  std::string TakeEvents() { return std::exchange(events_, ""); }
  std::string TakeStates() { return std::exchange(states_, ""); }
  DemandState state() const { return reflector_->status().state; }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "reader"};
  FakeRestClient other_{loop_, "other"};
  Metrics metrics_;
  WatchBudget budget_{{.max_bytes = size_t{1} << 40, .max_watches = 1000, .bytes_per_watch = 0},
                      loop_.clock(),
                      metrics_};
  ProbeBudget probes_{{.per_second = 5, .burst = 20}, loop_, metrics_};
  WatchCloser closer_{{}, loop_, metrics_};
  std::mt19937_64 random_{1};
  ObjectStore store_;
  DemandSpec spec_{kWidget, "", ""};
  ReflectorOptions options_;
  ProbeBudget::Flows flows_ = {""};
  std::deque<HttpResponse> lists_;
  std::string events_;
  std::string states_;
  int progress_ = 0;
  int accesses_ = 0;
  int restored_ = 0;
  int failures_ = 0;
  std::unique_ptr<Reflector> reflector_;
};

}  // namespace mandate
