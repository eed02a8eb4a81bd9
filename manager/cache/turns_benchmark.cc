// How long the cache keeps the loop in one turn, with 100,000 objects of 1 KiB.
//   hack/bazel run -c opt --copt=-O2 //manager/cache:turns_benchmark
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/clock.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr int kObjects = 100'000;
constexpr int kWatches = 2000;

// Notes how long its tasks take.
class MeasuredLoop : public SimulatedLoop {
 public:
  void Post(Task task) override { SimulatedLoop::Post(Measured(std::move(task))); }
  std::unique_ptr<Timer> RunAt(absl::Time when, Task task) override {
    return SimulatedLoop::RunAt(when, Measured(std::move(task)));
  }

  // Runs `work` of the server's, which does not count.
  template <class Work>
  auto Excluding(Work work) {
    const auto start = Clock::Real().TimeNow();
    auto result = work();
    excluded_ += Clock::Real().TimeNow() - start;
    return result;
  }

  void Report(const char* what) {
    std::printf("%-44s %7d turns %9.1f ms in all %7.1f ms the longest\n", what, turns_,
                absl::ToDoubleMilliseconds(total_), absl::ToDoubleMilliseconds(longest_));
    turns_ = 0;
    total_ = longest_ = absl::ZeroDuration();
  }

 private:
  Task Measured(Task task) {
    return [this, task = std::move(task)]() mutable {
      excluded_ = absl::ZeroDuration();
      const auto start = Clock::Real().TimeNow();
      std::move(task)();
      { const Task ended = std::move(task); }
      const absl::Duration took = Clock::Real().TimeNow() - start - excluded_;
      ++turns_;
      total_ += took;
      longest_ = std::max(longest_, took);
    };
  }

  absl::Duration excluded_;
  int turns_ = 0;
  absl::Duration total_;
  absl::Duration longest_;
};

class CountingSink : public DemandSink {
 public:
  void OnEvent(const ObjectEvent&) override { ++events; }
  void OnState(const DemandStatus& status) override {
    synced = status.state == DemandState::kSynced;
  }
  int events = 0;
  bool synced = false;
};

std::string ObjectJson(int i, int version) {
  return StrCat(R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w)",
                100'000 + i, R"(","namespace":"default","uid":"u)", i, R"(","resourceVersion":")",
                version, R"("},"spec":")", std::string(900, 'x'), "\"}");
}

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "turns_benchmark: %s\n", what);
  std::abort();
}

class Run {
 public:
  explicit Run(int components = 10) {
    cache_ = *Cache::Create({.loop = loop_, .metrics = metrics_});
    for (int i = 0; i < components; ++i) {
      clients_.push_back(std::make_unique<FakeRestClient>(loop_, StrCat("c", i)));
      FakeRestClient& client = *clients_.back();
      client.Handle([this](const RestRequest& request) {
        return loop_.Excluding([&] { return Answer(request); });
      });
      client.OnWatch([this](const std::shared_ptr<FakeWatch>& watch) {
        loop_.Excluding([&] { return Serve(watch); });
      });
      views_.push_back(&cache_->AddComponent(client, kReader));
      Check(views_.back()->IndexField(kWidget, "controller", ControllerUid()).ok(), "IndexField");
    }
  }

  // Everything that there is, for one component, and then for ten.
  void Initial(const char* how) {
    Demand(0);
    loop_.RunFor(absl::Seconds(1));
    Check(sinks_[0]->synced && sinks_[0]->events == kObjects, "the first one is not synced");
    loop_.Report(StrCat(how, ", one component").c_str());
    for (size_t i = 1; i < views_.size(); ++i) Demand(i);
    loop_.RunFor(absl::Seconds(1));
    Check(sinks_.back()->synced && sinks_.back()->events == kObjects, "the last one is not synced");
    loop_.Report("  nine more join");
  }

  void Relist(const char* what, int version) {
    version_ = version;
    for (const auto& client : clients_) {
      for (const auto& watch : client->watches()) {
        if (watch->live()) watch->Send(ErrorJson(410, "Expired"));
      }
    }
    for (const auto& sink : sinks_) sink->events = 0;
    loop_.RunFor(absl::Minutes(1));
    Check(sinks_.back()->synced, "not synced after the relist");
    loop_.Report(what);
  }

  void Leave() {
    demands_.clear();
    loop_.RunFor(absl::Seconds(1));
    loop_.Report("  all leave");
  }

  // A watch in each of many namespaces, and a hint to all of them.
  void Poke() {
    empty_ = true;
    for (int i = 0; i < kWatches; ++i) {
      for (size_t c = 0; c < 2; ++c) {
        demands_.push_back(views_[c]->Demand({kWidget, StrCat("ns", i), ""}, nullptr));
      }
    }
    loop_.RunFor(absl::Seconds(5));
    loop_.Report("2,000 watches of two components open");
    cache_->Poke();
    loop_.RunFor(absl::Seconds(5));
    loop_.Report("  and get a hint");
  }

 private:
  void Demand(size_t i) {
    sinks_.push_back(std::make_shared<CountingSink>());
    demands_.push_back(views_[i]->Demand({kWidget, "", ""}, sinks_.back()));
  }

  absl::StatusOr<HttpResponse> Answer(const RestRequest& request) {
    if (request.method == "POST") {
      return FakeRestClient::Json(201, R"({"status":{"allowed":true}})");
    }
    const std::string token = QueryOf(request.target, "continue");
    const int from = token.empty() ? 0 : std::stoi(token);
    const int to = empty_ ? 0 : std::min(kObjects, from + 500);
    std::vector<std::string> items;
    for (int i = from; i < to; ++i) items.push_back(ObjectJson(i, version_));
    return FakeRestClient::Json(
        200, ListJson("200000", items, to == kObjects || empty_ ? "" : StrCat(to)));
  }

  bool Serve(const std::shared_ptr<FakeWatch>& watch) {
    watch->Open();
    if (watch->Query("sendInitialEvents") != "true") return true;
    std::string chunk;
    for (int i = 0; i < kObjects && !empty_; ++i) {
      chunk += EventJson("ADDED", ObjectJson(i, version_));
      if (chunk.size() > 64 << 10) watch->Send(std::exchange(chunk, ""));
    }
    watch->Send(chunk + BookmarkJson("200000", true));
    return true;
  }

  MeasuredLoop loop_;
  Metrics metrics_;
  bool empty_ = false;
  int version_ = 1000;
  std::vector<std::unique_ptr<FakeRestClient>> clients_;
  std::unique_ptr<Cache> cache_;
  std::vector<CacheView*> views_;
  std::vector<std::shared_ptr<CountingSink>> sinks_;
  std::vector<std::unique_ptr<DemandHandle>> demands_;
};

}  // namespace
}  // namespace mandate

// Of WatchList alone: FakeRestClient answers a LIST in a task that is not measured.
int main() {
  {
    mandate::Run run;
    run.Initial("WatchList");
    run.Relist("  a list that changes nothing", 1000);
    run.Relist("  a list in which everything has changed", 2000);
    run.Leave();
  }
  mandate::Run(2).Poke();
}
