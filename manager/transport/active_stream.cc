#include "manager/transport/active_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "manager/core/loop_label.h"

namespace mandate {

class ActiveStream::Handle : public Stream {
 public:
  explicit Handle(std::shared_ptr<ActiveStream> active) : active_(std::move(active)) {}
  ~Handle() override { active_->Cancel(); }

 private:
  const std::shared_ptr<ActiveStream> active_;
};

ActiveStream::ActiveStream(Loop& loop, HttpRequest request, std::shared_ptr<StreamSink> sink)
    : ActiveRequest(std::move(request)), loop_(loop), gate_(std::move(sink)) {}

std::unique_ptr<Stream> ActiveStream::Bind(absl::Duration time_to_headers) {
  const auto self = std::static_pointer_cast<ActiveStream>(shared_from_this());
  no_head_ = loop_.RunAt(
      loop_.clock().TimeNow() + time_to_headers,
      [weak = std::weak_ptr<ActiveStream>(self), time_to_headers] {
        const auto active = weak.lock();
        if (active == nullptr) return;
        active->EndTimedOut(absl::UnavailableError(absl::StrCat(
            active->request().endpoint->server,
            active->maybe_processed() ? ": no response headers for "
                                      : ": no connection was free for ",
            active->request().target, " within ", absl::FormatDuration(time_to_headers))));
      });
  return std::make_unique<Handle>(self);
}

bool ActiveStream::OnHeaders(const HttpResponse& head) {
  no_head_.reset();
  if (ended() || silenced()) return false;
  const LoopLabel label(request().user_agent, "head of a stream");
  return gate_.Open(head) || Fail(absl::CancelledError("the stream was cancelled"));
}

bool ActiveStream::OnBody(std::string_view bytes) {
  if (ended() || silenced()) return false;
  const LoopLabel label(request().user_agent, "data of a stream");
  return gate_.Data(bytes) || Fail(absl::CancelledError("the stream was cancelled"));
}

void ActiveStream::Cancel() {
  gate_.Release();
  if (ended()) return;
  no_head_.reset();
  EndWithoutCall();
  // It never runs inside the destructor of the client's Stream.
  loop_.Post([self = std::static_pointer_cast<ActiveStream>(shared_from_this())] {
    self->gate_.Close(self->Marked(absl::CancelledError("the stream was cancelled")));
  });
}

void ActiveStream::OnEnd(absl::Status status) {
  no_head_.reset();
  const LoopLabel label(request().user_agent, "end of a stream");
  gate_.Close(std::move(status));
}

}  // namespace mandate
