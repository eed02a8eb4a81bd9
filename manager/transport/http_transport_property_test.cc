// Random operations with random faults, in virtual time. The transport keeps its contract in every
// case. A seed is one schedule, which can be repeated:
//   hack/bazel test //manager/transport:http_transport_property_test --test_env=SEED=17
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "manager/core/not_sent.h"
#include "manager/core/testing/seeds.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/fake_network.h"

namespace mandate {
namespace {

constexpr int kServers = 3;
constexpr int kOperations = 150;

// The number of events, by their names.
using Totals = std::map<std::string, size_t>;

// One run, and the violations that it finds.
class World {
 public:
  explicit World(uint64_t seed)
      : random_(seed), options_(RandomOptions()), network_(loop_, RandomNetwork(seed)) {
    transport_ = *HttpTransport::CreateOn(loop_, options_, network_.NewCodec());
  }

  void Run() {
    const int end_at = Chance(25) ? Number(0, kOperations) : kOperations;
    for (int i = 0; i < end_at; ++i) {
      Operate();
      if (Chance(60)) loop_.RunFor(absl::Milliseconds(Number(0, 400)));
      CheckStats();
    }
    if (end_at == kOperations) LetEverythingEnd();
    DestroyTransport();
    loop_.RunFor(absl::Hours(1));
    for (const auto& call : calls_) CheckEnded(*call);
    for (const auto& stream : streams_) CheckEnded(*stream);
    Expect(network_.codecs() == 0, "connections outlive the transport");
    Expect(loop_.NextTimer() == absl::InfiniteFuture(), "timers outlive the transport");
    CheckOrder();
    for (const std::string& violation : network_.violations()) problems_.push_back(violation);
  }

  const std::vector<std::string>& problems() const { return problems_; }

  void AddTo(Totals& totals) const {
    const FakeNetwork::Counts& counts = network_.counts();
    totals["connections"] += counts.connections;
    totals["requests sent"] += counts.requests;
    totals["probes"] += counts.probes;
    totals["refusals"] += counts.refusals;
    totals["resets"] += counts.resets;
    totals["closed"] += counts.closed;
    totals["GOAWAY"] += counts.went_away;
    totals["stalls"] += counts.stalls;
    totals["resends"] += last_stats_.resends;
    totals["connections lost"] += last_stats_.connections_lost;
    totals["connections drained"] += last_stats_.connections_drained;
    totals["refused for waiting"] += last_stats_.limited_waiting;
    totals["waited for a connection"] += last_stats_.limited_connection;
    totals["waited for a share"] += last_stats_.limited_share;
    const auto count = [&totals](const Asked& asked) {
      if (!asked.status.has_value()) return;
      ++totals[absl::StatusCodeToString(asked.status->code())];
      totals["not sent"] += WasNotSent(*asked.status);
    };
    for (const auto& call : calls_) count(*call);
    for (const auto& stream : streams_) count(*stream);
  }

 private:
  // A request and its result.
  struct Asked {
    std::string target;
    std::string method = "GET";
    absl::Time began;
    std::optional<absl::Status> status;
    std::optional<absl::Time> ended;
    int times_ended = 0;
    bool inside = true;  // the call that asked
  };
  struct AskedCall : Asked {
    CallContext context;
    std::stop_source stop;
    bool stopped = false;
  };
  struct AskedStream : Asked {
    std::unique_ptr<Stream> stream;
    bool open = false;
    bool destroyed = false;
    std::optional<absl::Time> headed;
  };

  class Sink : public StreamSink {
   public:
    Sink(World& world, AskedStream& asked) : world_(world), asked_(asked) {}
    Flow OnOpen(const HttpResponse& head) override {
      world_.Expect(!asked_.open, "opened twice");
      world_.Expect(head.code == 200, "a head that no server sent");
      asked_.open = true;
      asked_.headed = world_.loop_.clock().TimeNow();
      return NoteReceived();
    }
    Flow OnData(std::string_view bytes) override {
      world_.Expect(asked_.open, "data before the head");
      world_.Expect(bytes == "x", "another's data");
      return NoteReceived();
    }
    void OnClosed(absl::Status status) override {
      world_.Expect(!asked_.inside, "closed inside Open()");
      world_.End(asked_, std::move(status));
    }

   private:
    Flow NoteReceived() {
      world_.Expect(asked_.times_ended == 0, "heard after its end");
      world_.Expect(!asked_.destroyed, "heard after its stream was destroyed");
      world_.Expect(!world_.destroyed_, "heard after the transport was destroyed");
      world_.Expect(world_.network_.served(asked_.target) > 0, "an answer before it was served");
      if (world_.Chance(3)) return Flow::kCancel;
      world_.ActFromCallback();
      return Flow::kContinue;
    }

    World& world_;
    AskedStream& asked_;
  };

  int Number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  bool Chance(int percent) { return Number(0, 99) < percent; }
  void Expect(bool ok, const std::string& what) {
    if (!ok && problems_.size() < 10) problems_.push_back(what);
  }

  HttpOptions RandomOptions() {
    HttpOptions options;
    options.streams_per_connection = static_cast<size_t>(Number(2, 12));
    options.max_call_connections = static_cast<size_t>(Number(1, 8));
    options.max_stream_connections = static_cast<size_t>(Number(1, 8));
    options.component_share_factor = static_cast<size_t>(Number(1, 5));
    options.max_queued_requests = static_cast<size_t>(Chance(30) ? Number(1, 10) : 1000);
    options.max_call_duration = absl::Minutes(1);
    options.drain_timeout = absl::Minutes(2);
    return options;
  }

  // Each seed has only some of the faults, so that rare ones do not hide behind the others.
  FakeNetwork::Options RandomNetwork(uint64_t seed) {
    const auto sometimes = [this](int most) { return Chance(50) ? Number(0, most) : 0; };
    FakeNetwork::Options options;
    options.seed = seed;
    options.client_streams = options_.streams_per_connection;
    options.server_streams = static_cast<size_t>(Chance(50) ? Number(1, 12) : 250);
    options.connect_timeout = options_.connect_timeout;
    options.faults = {.connect_refused = sometimes(20),
                      .connect_silent = sometimes(10),
                      .http1 = sometimes(40),
                      .untrusted = sometimes(5),
                      .never = sometimes(10),
                      .refused_stream = sometimes(20),
                      .reset = sometimes(10),
                      .cut = sometimes(10),
                      .go_away = sometimes(20),
                      .close = sometimes(10),
                      .stall = sometimes(10),
                      .half_probe = sometimes(50)};
    return options;
  }

  HttpRequest Request(const std::string& method, const std::string& target) {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = absl::StrCat("https://server-", Number(1, kServers));
    endpoint->ca_pem = "CA";
    HttpRequest request(std::move(endpoint),
                        BearerToken{std::make_shared<const Secret>(std::string("token"))}, method,
                        target);
    request.user_agent = absl::StrCat("component-", Number(0, 5));
    return request;
  }

  void Operate() {
    const int dice = Number(0, 99);
    if (dice < 45) {
      StartCall();
    } else if (dice < 75) {
      StartStream();
    } else if (dice < 85) {
      StopOne();
    } else {
      DestroyOne();
    }
  }

  void ActFromCallback() {
    if (Chance(90) || quiet_) return;
    Chance(2) && transport_ != nullptr ? DestroyTransport() : Operate();
  }

  void StartCall() {
    if (transport_ == nullptr) return;
    AskedCall& call = *calls_.emplace_back(std::make_unique<AskedCall>());
    call.method = Chance(50) ? "GET" : "POST";
    call.target = absl::StrCat("/call/", calls_.size());
    call.began = loop_.clock().TimeNow();
    if (Chance(40)) {
      call.context = call.context.WithDeadline(call.began + absl::Milliseconds(Number(-10, 5000)));
    }
    call.context.stop = call.stop.get_token();
    transport_->Call(call.context, Request(call.method, call.target),
                     [this, &call](absl::StatusOr<HttpResponse> answer) {
                       Expect(!call.inside, "ended inside Call()");
                       if (answer.ok()) CheckAnswer(call, *answer);
                       End(call, answer.status());
                       ActFromCallback();
                     });
    call.inside = false;
  }

  void CheckAnswer(const AskedCall& call, const HttpResponse& answer) {
    Expect(answer.body == call.target, "another's answer");
    Expect(network_.served(call.target) > 0, "an answer before it was served");
  }

  void StartStream() {
    if (transport_ == nullptr) return;
    AskedStream& asked = *streams_.emplace_back(std::make_unique<AskedStream>());
    asked.target = absl::StrCat("/watch/", streams_.size());
    asked.began = loop_.clock().TimeNow();
    // Another owner keeps the sink, too, so it must get its end.
    sinks_.push_back(std::make_shared<Sink>(*this, asked));
    asked.stream = transport_->Open(Request("GET", asked.target), sinks_.back());
    asked.inside = false;
  }

  void StopOne() {
    if (calls_.empty()) return;
    AskedCall& call = *calls_[static_cast<size_t>(Number(0, static_cast<int>(calls_.size()) - 1))];
    call.stopped = true;
    call.stop.request_stop();
  }

  void DestroyOne() {
    if (streams_.empty()) return;
    Destroy(*streams_[static_cast<size_t>(Number(0, static_cast<int>(streams_.size()) - 1))]);
  }

  void Destroy(AskedStream& asked) {
    asked.destroyed = true;
    const int before = asked.times_ended;
    asked.stream.reset();
    Expect(asked.times_ended == before, "closed inside its stream's destructor");
  }

  void DestroyTransport() {
    if (transport_ == nullptr) return;
    last_stats_ = transport_->stats();
    destroyed_ = quiet_ = true;
    transport_.reset();
  }

  void End(Asked& asked, absl::Status status) {
    ++asked.times_ended;
    asked.status = std::move(status);
    asked.ended = loop_.clock().TimeNow();
  }

  // Streams are cancelled, calls end by themselves, then connections go idle and are closed.
  void LetEverythingEnd() {
    network_.Heal();
    quiet_ = true;
    // Hanging connections are found: by then they were silent for long enough, and a probe got no
    // answer.
    loop_.RunFor(3 * options_.read_idle_timeout + options_.probe_timeout);
    const size_t hanging = network_.HangingSince(
        loop_.clock().TimeNow() - 2 * options_.read_idle_timeout - options_.probe_timeout);
    Expect(hanging == 0, absl::StrCat(hanging, " hang on a dead connection"));
    for (const auto& stream : streams_) Destroy(*stream);
    loop_.RunFor(options_.max_call_duration);
    for (const auto& call : calls_) CheckEnded(*call);
    for (const auto& stream : streams_) CheckEnded(*stream);
    loop_.RunFor(options_.drain_timeout + options_.idle_timeout);
    if (transport_ == nullptr) return;
    const HttpStats stats = transport_->stats();
    Expect(stats.active == 0, absl::StrCat(stats.active, " active in the end"));
    Expect(stats.waiting == 0, absl::StrCat(stats.waiting, " wait in the end"));
    Expect(stats.connections == 0, absl::StrCat(stats.connections, " connections in the end"));
    Expect(network_.codecs() == 0, "connections are left");
  }

  void CheckStats() {
    if (transport_ == nullptr) return;
    const HttpStats stats = transport_->stats();
    Expect(stats.call_connections <= options_.max_call_connections, "too many for calls");
    Expect(stats.stream_connections <= options_.max_stream_connections, "too many for streams");
    Expect(stats.connections == stats.call_connections + stats.stream_connections,
           "connections of no class");
    const size_t most = options_.max_call_connections + options_.max_stream_connections;
    Expect(
        stats.waiting <=
            2 * kServers * (options_.max_queued_requests + most * options_.streams_per_connection),
        "too many wait");
  }

  void CheckEnded(const Asked& asked) {
    Expect(asked.times_ended == 1,
           absl::StrCat(asked.target, " ended ", asked.times_ended, " times"));
    const int served = network_.served(asked.target);
    Expect(served <= (asked.method == "POST" ? 1 : 2),
           absl::StrCat(asked.method, " ", asked.target, " was served ", served, " times"));
    if (!asked.status.has_value() || asked.status->ok()) return;
    Expect(!WasNotSent(*asked.status) || served == 0,
           absl::StrCat(asked.target, " was served and is marked as not sent"));
    Expect(WasNotSent(*asked.status) || network_.sent(asked.target),
           absl::StrCat(asked.target, " was never sent and is not marked"));
  }

  void CheckEnded(const AskedCall& call) {
    CheckEnded(static_cast<const Asked&>(call));
    if (!call.ended.has_value()) return;
    const absl::Time limit = call.began + options_.max_call_duration;
    const absl::Time deadline = std::max(call.began, std::min(call.context.deadline, limit));
    Expect(*call.ended <= deadline, absl::StrCat(call.target, " outlived its deadline"));
    if (absl::IsDeadlineExceeded(*call.status)) {
      Expect(*call.ended >= deadline, absl::StrCat(call.target, " ended before its deadline"));
    }
    if (absl::IsCancelled(*call.status)) {
      Expect(call.stopped || destroyed_, absl::StrCat(call.target, " was cancelled by nobody"));
    }
  }

  void CheckEnded(const AskedStream& stream) {
    CheckEnded(static_cast<const Asked&>(stream));
    if (!stream.ended.has_value()) return;
    Expect(stream.headed.value_or(*stream.ended) <= stream.began + options_.time_to_headers,
           absl::StrCat(stream.target, " had no head in time"));
  }

  // Each component's requests are served in order in each pool.
  void CheckOrder() {
    for (const auto& [pool, targets] : network_.admitted()) {
      int last = 0;
      for (const std::string& target : targets) {
        const int number = atoi(target.substr(target.rfind('/') + 1).c_str());
        Expect(number > last, absl::StrCat(pool, ": ", target, " was overtaken"));
        last = number;
      }
    }
  }

  SimulatedLoop loop_;
  std::mt19937_64 random_;
  const HttpOptions options_;
  FakeNetwork network_;
  std::unique_ptr<HttpTransport> transport_;
  std::vector<std::unique_ptr<AskedCall>> calls_;
  std::vector<std::unique_ptr<AskedStream>> streams_;
  std::vector<std::shared_ptr<Sink>> sinks_;
  HttpStats last_stats_;
  bool destroyed_ = false;
  bool quiet_ = false;  // callbacks do nothing more
  std::vector<std::string> problems_;
};

TEST(HttpTransportProperty, KeepsTheContractUnderRandomFaults) {
  Totals totals;
  const int64_t ran = RunSeeds(200, [&](uint64_t seed) {
    World world(seed);
    world.Run();
    for (const std::string& problem : world.problems()) ADD_FAILURE() << problem;
    world.AddTo(totals);
  });
  for (const auto& [name, count] : totals) std::printf("%s: %zu\n", name.c_str(), count);
  if (ran < 100) return;
  // Each kind of event did happen.
  const auto seeds = static_cast<size_t>(ran);
  for (const char* name : {"probes", "refusals", "resets", "closed", "GOAWAY", "stalls", "resends",
                           "connections lost", "connections drained", "refused for waiting",
                           "waited for a connection", "waited for a share", "not sent"}) {
    EXPECT_GE(totals[name], seeds / 10) << name;
  }
  EXPECT_GE(totals["OK"], 20 * seeds);
}

}  // namespace
}  // namespace mandate
