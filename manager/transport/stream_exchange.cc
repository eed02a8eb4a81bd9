#include "manager/transport/stream_exchange.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "manager/core/loop_label.h"

namespace mandate {

class StreamExchange::Handle : public Stream {
 public:
  explicit Handle(std::shared_ptr<StreamExchange> exchange) : exchange_(std::move(exchange)) {}
  ~Handle() override { exchange_->Cancel(); }

 private:
  const std::shared_ptr<StreamExchange> exchange_;
};

StreamExchange::StreamExchange(Loop& loop, HttpRequest request, std::shared_ptr<StreamSink> sink)
    : Exchange(std::move(request)), loop_(loop), gate_(std::move(sink)) {}

std::unique_ptr<Stream> StreamExchange::Bind(absl::Duration time_to_headers) {
  const auto self = std::static_pointer_cast<StreamExchange>(shared_from_this());
  no_head_ = loop_.RunAt(
      loop_.clock().TimeNow() + time_to_headers,
      [weak = std::weak_ptr<StreamExchange>(self), time_to_headers] {
        const auto exchange = weak.lock();
        if (exchange == nullptr) return;
        exchange->EndOverdue(absl::UnavailableError(absl::StrCat(
            exchange->request().endpoint->server,
            exchange->maybe_served() ? ": no answer to " : ": no connection had room for ",
            exchange->request().target, exchange->maybe_served() ? " began within " : " within ",
            absl::FormatDuration(time_to_headers))));
      });
  return std::make_unique<Handle>(self);
}

bool StreamExchange::OnHead(const HttpResponse& head) {
  no_head_.reset();
  if (over() || muted()) return false;
  const LoopLabel label(request().user_agent, "head of a stream");
  return gate_.Open(head) || GiveUp(absl::CancelledError("the stream was cancelled"));
}

bool StreamExchange::OnBody(std::string_view bytes) {
  if (over() || muted()) return false;
  const LoopLabel label(request().user_agent, "data of a stream");
  return gate_.Data(bytes) || GiveUp(absl::CancelledError("the stream was cancelled"));
}

void StreamExchange::Cancel() {
  gate_.Release();
  if (over()) return;
  no_head_.reset();
  DropSilently();
  // Never inside the destructor of the client's Stream.
  loop_.Post([self = std::static_pointer_cast<StreamExchange>(shared_from_this())] {
    self->gate_.Close(self->Marked(absl::CancelledError("the stream was cancelled")));
  });
}

void StreamExchange::OnEnd(absl::Status status) {
  no_head_.reset();
  const LoopLabel label(request().user_agent, "end of a stream");
  gate_.Close(std::move(status));
}

}  // namespace mandate
