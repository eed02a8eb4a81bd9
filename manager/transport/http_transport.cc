#include "manager/transport/http_transport.h"

#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "manager/transport/active_call.h"
#include "manager/transport/active_stream.h"
#include "manager/transport/ca_files.h"
#include "manager/transport/connection_budget.h"
#include "manager/transport/curl_codec.h"
#include "manager/transport/curl_handles.h"
#include "manager/transport/curl_support.h"
#include "manager/transport/request_check.h"

namespace mandate {
namespace {

absl::Status CheckOptions(const HttpOptions& options) {
  const struct {
    const char* name;
    size_t value;
    size_t least = 1;
  } sizes[] = {
      {"streams_per_connection", options.streams_per_connection, 2},
      {"max_call_connections", options.max_call_connections},
      {"max_stream_connections", options.max_stream_connections},
      {"max_queued_requests", options.max_queued_requests},
      {"component_share_factor", options.component_share_factor},
  };
  for (const auto& size : sizes) {
    if (size.value >= size.least) continue;
    return absl::InvalidArgumentError(absl::StrCat("HttpOptions::", size.name, " must be at least ",
                                                   size.least, ", got ", size.value));
  }
  const struct {
    const char* name;
    absl::Duration value;
  } durations[] = {
      {"connect_timeout", options.connect_timeout},
      {"time_to_headers", options.time_to_headers},
      {"max_call_duration", options.max_call_duration},
      {"read_idle_timeout", options.read_idle_timeout},
      {"probe_timeout", options.probe_timeout},
      {"tcp_user_timeout", options.tcp_user_timeout},
      {"suspect_connection_after", options.suspect_connection_after},
      {"idle_timeout", options.idle_timeout},
      {"drain_timeout", options.drain_timeout},
      {"ca_refresh", options.ca_refresh},
  };
  for (const auto& duration : durations) {
    if (duration.value >= absl::Milliseconds(1) && duration.value <= absl::Hours(24)) continue;
    return absl::InvalidArgumentError(absl::StrCat("HttpOptions::", duration.name,
                                                   " must be between 1ms and 24h, got ",
                                                   absl::FormatDuration(duration.value)));
  }
  return absl::OkStatus();
}

void CheckVersion(const HttpOptions& options) {
  if (CurlSupport{options.curl_version}.tested()) return;
  options.log.Error(
      "This version of libcurl was not tested with Mandate: a request that the API server rejects "
      "before processing it is not sent again",
      {{"version", CurlVersionText(options.curl_version)},
       {"oldest_tested", CurlVersionText(CurlSupport::kOldestTested)},
       {"newest_tested", CurlVersionText(CurlSupport::kNewestTested)}});
}

}  // namespace

// The state that tasks and connections need. It outlives the transport until the loop has removed
// them.
class HttpTransport::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Loop& loop, Options options)
      : loop_(loop), options_(options), ca_files_(loop.clock(), options_.ca_refresh, stats_) {}

  // Must be called before anything else.
  void SetCodecFactory(ClientCodecFactory new_codec) { new_codec_ = std::move(new_codec); }

  Loop& loop() { return loop_; }
  const Options& options() const { return options_; }
  Stats& counters() { return stats_; }

  // Checks the request, and updates its endpoint.
  absl::Status Prepare(HttpRequest& request) {
    absl::Status status = CheckRequest(request);
    if (status.ok()) request.endpoint = ca_files_.Current(std::move(request.endpoint));
    return status;
  }

  // Watches are many and long-lived. They must never keep a call from a connection.
  ConnectionBudget& calls() { return calls_; }
  ConnectionBudget& streams() { return streams_; }

  Stats stats() const {
    Stats stats = stats_;
    stats.call_connections = calls_.connections();
    stats.stream_connections = streams_.connections();
    calls_.AddTo(stats);
    streams_.AddTo(stats);
    return stats;
  }

  void SilenceStreams() {
    calls_.SilenceStreams();
    streams_.SilenceStreams();
  }

  void Shutdown() {
    const absl::Status status = absl::CancelledError("the transport was shut down");
    calls_.Shutdown(status);
    streams_.Shutdown(status);
  }

 private:
  void Schedule(ConnectionBudget& budget) {
    loop_.Post([weak = weak_from_this(), &budget] {
      if (const auto self = weak.lock()) budget.Dispatch();
    });
  }

  // A failing proxy may affect every connection, and watches have no deadlines to show it.
  void ProbeAll() {
    loop_.Post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->calls_.Probe();
      self->streams_.Probe();
    });
  }

  Loop& loop_;
  const Options options_;
  Stats stats_;
  CaFiles ca_files_;
  ClientCodecFactory new_codec_;
  const ConnectionContext context_{loop_, options_, stats_, new_codec_, [this] { ProbeAll(); }};
  ConnectionBudget calls_{context_, options_.max_call_connections, [this] { Schedule(calls_); }};
  ConnectionBudget streams_{context_, options_.max_stream_connections,
                            [this] { Schedule(streams_); }};
};

absl::StatusOr<std::unique_ptr<HttpTransport>> HttpTransport::Create(EventLoop& loop,
                                                                     Options options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (!InitializeCurl()) return absl::InternalError("libcurl cannot be initialised");
  if (options.curl_version == 0) options.curl_version = CurlVersionHere();
  CheckVersion(options);
  auto core = std::make_shared<Core>(loop, options);
  core->SetCodecFactory([&loop, raw = core.get()](ClientCodec::Observer& observer) {
    return CurlCodec::Create(loop, raw->options(), raw->counters(), observer);
  });
  return std::unique_ptr<HttpTransport>(new HttpTransport(std::move(core)));
}

absl::StatusOr<std::unique_ptr<HttpTransport>> HttpTransport::CreateOn(
    Loop& loop, Options options, ClientCodecFactory new_codec) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  auto core = std::make_shared<Core>(loop, options);
  core->SetCodecFactory(std::move(new_codec));
  return std::unique_ptr<HttpTransport>(new HttpTransport(std::move(core)));
}

HttpTransport::HttpTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}

HttpTransport::~HttpTransport() {
  core_->SilenceStreams();
  Loop& loop = core_->loop();
  // This may run inside libcurl.
  loop.Post([core = std::move(core_)] { core->Shutdown(); });
}

void HttpTransport::Call(const CallContext& context, HttpRequest request, Done done) {
  assert(core_->loop().IsCurrent());
  ++core_->counters().calls;
  absl::Status status = core_->Prepare(request);
  auto active = std::make_shared<ActiveCall>(core_->loop(), core_->options(), core_->counters(),
                                             std::move(request), std::move(done));
  if (status.ok()) status = core_->calls().Submit(active);
  if (status.ok()) {
    active->Bind(context);
    return;
  }
  core_->loop().Post([active, status] { active->End(status); });
}

std::unique_ptr<Stream> HttpTransport::Open(HttpRequest request, std::shared_ptr<StreamSink> sink) {
  assert(core_->loop().IsCurrent());
  ++core_->counters().streams;
  absl::Status status = core_->Prepare(request);
  auto active = std::make_shared<ActiveStream>(core_->loop(), std::move(request), std::move(sink));
  if (status.ok()) status = core_->streams().Submit(active);
  if (!status.ok()) core_->loop().Post([active, status] { active->End(status); });
  return active->Bind(core_->options().time_to_headers);
}

HttpTransport::Stats HttpTransport::stats() const {
  assert(core_->loop().IsCurrent());
  return core_->stats();
}

}  // namespace mandate
