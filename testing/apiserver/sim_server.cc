#include "testing/apiserver/sim_server.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/http_head.h"
#include "testing/apiserver/status_response.h"

namespace mandate::apiserver {
namespace {

absl::Status Reset() { return absl::UnavailableError("connection reset (by the double)"); }

absl::StatusOr<Request> ToRequest(const RecordedRequest& from) {
  Headers headers = {{"accept", from.accept}, {"user-agent", from.user_agent}};
  if (from.token) headers.emplace_back("authorization", "Bearer " + *from.token);
  if (!from.content_type.empty()) headers.emplace_back("content-type", from.content_type);
  for (const auto& [name, value] : from.headers) {
    headers.emplace_back(absl::AsciiStrToLower(AsAbsl(name)), value);
  }
  return Request::Parse(from.method, from.target, std::move(headers), from.body);
}

}  // namespace

class SimServer::CallExchange : public Exchange {
 public:
  CallExchange(Request request, FakeTransport::Reply reply, absl::Duration latency)
      : Exchange(std::move(request)), reply_(std::move(reply)), latency_(latency) {}

 protected:
  void WriteWhole(const Response& response) override {
    WriteHead(response);
    head_.body = response.body;
    WriteEnd();
  }
  void WriteHead(const Response& head) override { head_ = ToHead(head); }
  void Write(std::string bytes) override { head_.body += bytes; }
  void WriteEnd() override { reply_(FakeReply{.result = std::move(head_)}.After(latency_)); }
  void WriteAbort() override { reply_(FakeReply::Error(Reset()).After(latency_)); }

 private:
  const FakeTransport::Reply reply_;
  const absl::Duration latency_;
  HttpResponse head_;
};

class SimServer::StreamExchange : public Exchange {
 public:
  StreamExchange(Request request, std::shared_ptr<FakeStream> stream, Loop& loop,
                 const absl::Duration max_latency, uint64_t seed)
      : Exchange(std::move(request)),
        stream_(std::move(stream)),
        loop_(loop),
        max_latency_(max_latency),
        random_(seed) {}

 protected:
  void WriteWhole(const Response& response) override {
    WriteHead(response);
    Write(response.body);
    WriteEnd();
  }
  void WriteHead(const Response& head) override {
    Later([head = ToHead(head)](FakeStream& stream) { stream.Open(head); });
  }
  void Write(std::string bytes) override {
    Later([bytes = std::move(bytes)](FakeStream& stream) { stream.Send(bytes); });
  }
  void WriteEnd() override {
    Later([](FakeStream& stream) { stream.Close(); });
  }
  void WriteAbort() override {
    Later([](FakeStream& stream) { stream.Close(Reset()); });
  }

 private:
  // Frames must keep their order.
  void Later(std::function<void(FakeStream&)> work) {
    const auto latency = absl::ToInt64Microseconds(max_latency_);
    const absl::Duration wait = latency > 0
                                    ? absl::Microseconds(random_() % static_cast<uint64_t>(latency))
                                    : absl::ZeroDuration();
    queue_->push_back(std::move(work));
    arrival_ = std::max(arrival_, loop_.clock().TimeNow() + wait);
    const auto timer = std::make_shared<std::unique_ptr<Loop::Timer>>();
    *timer = loop_.RunAt(arrival_, [stream = stream_, queue = queue_, timer] {
      auto next = std::move(queue->front());
      queue->pop_front();
      next(*stream);
      // The task owns its timer until it has run.
      timer->reset();
    });
  }

  const std::shared_ptr<FakeStream> stream_;
  Loop& loop_;
  const absl::Duration max_latency_;
  std::mt19937_64 random_;
  absl::Time arrival_ = absl::InfinitePast();
  const std::shared_ptr<std::deque<std::function<void(FakeStream&)>>> queue_ =
      std::make_shared<std::deque<std::function<void(FakeStream&)>>>();
};

SimServer::SimServer(Loop& loop, SimOptions options)
    : loop_(loop),
      options_(std::move(options)),
      random_(options_.core.seed),
      core_(loop, options_.core),
      transport_(loop) {
  transport_.HandleLate([this](const HttpRequest& request, FakeTransport::Reply reply) {
    Serve(request, std::move(reply));
  });
  transport_.OnStream([this](FakeStream& stream) { Serve(stream); });
}

SimServer::~SimServer() = default;

absl::Duration SimServer::Latency() {
  const auto most = absl::ToInt64Microseconds(options_.max_latency);
  if (most <= 0) return absl::ZeroDuration();
  return absl::Microseconds(random_() % static_cast<uint64_t>(most));
}

void SimServer::Serve(const HttpRequest& from, FakeTransport::Reply reply) {
  absl::StatusOr<Request> request =
      ToRequest(RecordedRequest(loop_.clock().TimeNow(), from, /*stream=*/false));
  if (!request.ok()) {
    const Response refusal = StatusResponse(BadRequest(AsStd(request.status().message())), {});
    HttpResponse head = ToHead(refusal);
    head.body = refusal.body;
    return reply(FakeReply{.result = std::move(head)});
  }
  core_.Serve(std::make_shared<CallExchange>(*std::move(request), std::move(reply), Latency()));
}

void SimServer::Serve(FakeStream& stream) {
  absl::StatusOr<Request> request = ToRequest(stream.request());
  if (!request.ok()) return stream.Close(request.status());
  auto exchange = std::make_shared<StreamExchange>(*std::move(request), stream.shared_from_this(),
                                                   loop_, options_.max_latency, random_());
  stream.OnCancelled([weak = std::weak_ptr<Exchange>(exchange)] {
    if (const auto gone = weak.lock()) gone->MarkGone();
  });
  core_.Serve(std::move(exchange));
}

}  // namespace mandate::apiserver
