#include "manager/client/testing/fake_rest_client.h"

#include <algorithm>
#include <utility>

#include "manager/core/percent.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

// Gives the body of a 2xx response to the sink, in pieces of odd sizes. The sink's error is the
// call's.
absl::StatusOr<HttpResponse> DeliverBody(absl::StatusOr<HttpResponse> response, BodySink* sink) {
  constexpr size_t kPiece = 61;
  if (sink == nullptr || !response.ok() || response->code / 100 != 2) return response;
  const std::string body = std::exchange(response->body, "");
  sink->OnHeaders(*response);
  for (std::string_view rest = body; !rest.empty();) {
    const std::string_view piece = rest.substr(0, kPiece);
    if (absl::Status status = sink->OnBody(piece); !status.ok()) return status;
    rest.remove_prefix(piece.size());
  }
  return response;
}

}  // namespace

std::string QueryOf(std::string_view target, std::string_view name) {
  size_t start = target.find('?');
  while (start != target.npos) {
    ++start;
    const size_t end = std::min(target.find('&', start), target.size());
    const std::string_view pair = target.substr(start, end - start);
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('=')) {
      return PercentDecode(pair.substr(name.size() + 1), /*plus=*/false).value_or("");
    }
    start = end == target.size() ? target.npos : end;
  }
  return "";
}

class FakeWatch::Handle : public Stream {
 public:
  explicit Handle(std::shared_ptr<FakeWatch> watch) : watch_(std::move(watch)) {}
  ~Handle() override {
    watch_->Cancel();
    watch_->sink_.reset();
  }

 private:
  const std::shared_ptr<FakeWatch> watch_;
};

std::string FakeWatch::Query(std::string_view name) const { return QueryOf(request_.target, name); }

void FakeWatch::Post(std::function<void()> task) {
  loop_.Post([self = shared_from_this(), task = std::move(task)] {
    if (self->live()) task();
  });
}

void FakeWatch::Cancel() {
  const bool was_live = live();
  cancelled_ = true;
  if (was_live && on_cancelled_) std::exchange(on_cancelled_, nullptr)();
}

void FakeWatch::Open(std::string content_type) {
  Post([this, content_type = std::move(content_type)] {
    opened_ = true;
    const auto sink = sink_;
    HttpResponse head = FakeRestClient::Json(200, "");
    head.content_type = content_type;
    if (sink->OnOpen(head) == StreamSink::Flow::kCancel) Cancel();
  });
}

void FakeWatch::Send(std::string bytes) {
  Post([this, bytes = std::move(bytes)] {
    const auto sink = sink_;
    if (sink->OnData(bytes) == StreamSink::Flow::kCancel) Cancel();
  });
}

void FakeWatch::Close(absl::Status status) {
  Post([this, status = std::move(status)] {
    ended_ = true;
    const auto sink = std::move(sink_);
    sink->OnClosed(status);
  });
}

void FakeWatch::Refuse(int code, std::string body) { Close(StatusFromResponse(code, body)); }

HttpResponse FakeRestClient::Json(int code, std::string body) {
  HttpResponse response;
  response.code = code;
  response.content_type = "application/json";
  response.body = std::move(body);
  return response;
}

size_t FakeRestClient::Count(std::string_view part) const {
  return std::count_if(requests_.begin(), requests_.end(), [&](const std::string& request) {
    return request.find(part) != request.npos;
  });
}

size_t FakeRestClient::live_watches() const {
  return std::count_if(watches_.begin(), watches_.end(),
                       [](const auto& watch) { return watch->live(); });
}

absl::Time FakeRestClient::NextArrival() const {
  return loop_.clock().TimeNow() + (delay_ ? delay_() : absl::ZeroDuration());
}

void FakeRestClient::Handle(Handler handler) {
  HandleLate([handler = std::move(handler)](const RestRequest& request, const Reply& reply) {
    reply(handler(request));
  });
}

void FakeRestClient::Send(const CallContext& context, RestRequest request, Done done) {
  requests_.push_back(StrCat(request.method, " ", request.target));
  const Reply reply =
      [this, stop = context.stop, sink = request.body_sink,
       shared = std::make_shared<Done>(std::move(done))](absl::StatusOr<HttpResponse> response) {
        if (response.ok() && response->code / 100 != 2) {
          response = StatusFromResponse(response->code, response->body, response->retry_after);
        }
        loop_.PostAt(NextArrival(), [stop, sink, response = std::move(response), shared]() mutable {
          if (stop.stop_requested()) response = absl::CancelledError("stopped");
          std::move (*shared)(DeliverBody(std::move(response), sink.get()));
        });
      };
  loop_.PostAt(NextArrival(), [this, request = std::move(request), reply] {
    if (!handler_) return reply(absl::UnavailableError("no server"));
    handler_(request, reply);
  });
}

std::unique_ptr<Stream> FakeRestClient::Watch(RestRequest request,
                                              std::shared_ptr<StreamSink> sink) {
  requests_.push_back(StrCat(request.method, " ", request.target));
  auto watch = std::make_shared<FakeWatch>(loop_, std::move(request), std::move(sink));
  watches_.push_back(watch);
  loop_.Post([this, watch] {
    if (watch->live() && on_watch_) on_watch_(watch);
  });
  return std::make_unique<FakeWatch::Handle>(watch);
}

}  // namespace mandate
