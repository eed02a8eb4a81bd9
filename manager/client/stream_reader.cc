#include "manager/client/stream_reader.h"

#include <memory>
#include <optional>
#include <utility>

#include "manager/core/executor.h"
#include "manager/core/mutex.h"
#include "manager/core/not_sent.h"
#include "manager/core/pending.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// Bytes on their way from the loop to the thread that reads. Thread-safe.
class Pipe {
 public:
  explicit Pipe(size_t most) : most_(most) {}

  void Open(const std::string& content_type) {
    MutexLock lock(mutex_);
    content_type_ = content_type;
  }
  // False: there are too many, or the pipe has ended.
  bool Put(std::string_view bytes) {
    MutexLock lock(mutex_);
    if (end_.has_value()) return false;
    if (bytes.size() > most_ - bytes_.size()) {
      EndLocked(absl::ResourceExhaustedError(
          StrCat("the response comes faster than it is read: more than ", most_,
                 " bytes wait; raise max_buffered, or read on from there with another request")));
      return false;
    }
    bytes_ += bytes;
    Wake();
    return true;
  }
  // The first end counts.
  void End(absl::Status status) {
    MutexLock lock(mutex_);
    EndLocked(std::move(status));
  }

  struct Taken {
    std::string content_type;
    std::string bytes;
    std::optional<absl::Status> end;    // after the bytes
    std::shared_ptr<const Latch> more;  // set when there is more; null with bytes or an end
  };
  Taken Take() {
    MutexLock lock(mutex_);
    Taken taken{.content_type = content_type_,
                .bytes = std::exchange(bytes_, ""),
                .end = end_,
                .more = nullptr};
    if (taken.bytes.empty() && !taken.end.has_value()) {
      waiter_ = std::make_shared<Latch>();
      taken.more = waiter_;
    }
    return taken;
  }

 private:
  void EndLocked(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (end_.has_value()) return;
    end_ = std::move(status);
    Wake();
  }
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (const auto waiter = std::exchange(waiter_, nullptr)) waiter->Set();
  }

  const size_t most_;
  Mutex mutex_;
  std::string content_type_ ABSL_GUARDED_BY(mutex_);
  std::string bytes_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Latch> waiter_ ABSL_GUARDED_BY(mutex_);
};

// The end of the pipe at the server. Loop thread only.
class PipeSink : public StreamSink {
 public:
  explicit PipeSink(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) {}
  // A loop that stops destroys its tasks and streams, and with them the only owners of this.
  ~PipeSink() override { pipe_->End(absl::CancelledError("the loop has stopped")); }

  Flow OnOpen(const HttpResponse& head) override {
    pipe_->Open(head.content_type);
    return Flow::kContinue;
  }
  Flow OnData(std::string_view bytes) override {
    return pipe_->Put(bytes) ? Flow::kContinue : Flow::kCancel;
  }
  void OnClosed(absl::Status status) override { pipe_->End(std::move(status)); }

 private:
  const std::shared_ptr<Pipe> pipe_;
};

// What lives on the loop. Loop thread only.
struct Reading {
  std::unique_ptr<Stream> stream;
  std::optional<ContextEnd> end;
};

}  // namespace

absl::Status ReadStream(const CallContext& context, RestClient& rest, RestRequest request,
                        size_t max_buffered, const StreamBytes& sink) {
  Loop& loop = rest.loop();
  if (!loop.CanAwait()) {
    return MarkNotSent(absl::FailedPreconditionError(
        StrCat(request.ToString(),
               ": a blocking request was made on the event loop; send it from a worker")));
  }
  const auto pipe = std::make_shared<Pipe>(max_buffered);
  const auto reading = std::make_shared<Reading>();
  loop.Post([&loop, &rest, context, request = std::move(request), pipe, reading,
             end = std::make_shared<PipeSink>(pipe)]() mutable {
    const std::string what = request.ToString();
    reading->end.emplace(loop, context, [pipe, what](absl::StatusCode why) {
      pipe->End(absl::Status(
          why, StrCat(what, ": ",
                      why == absl::StatusCode::kDeadlineExceeded ? "the deadline passed"
                                                                 : "cancelled")));
    });
    reading->stream = rest.Watch(std::move(request), std::move(end));
  });
  absl::Status result;
  while (true) {
    const Pipe::Taken taken = pipe->Take();
    if (taken.more != nullptr) {
      loop.Await(*taken.more);
      continue;
    }
    if (!taken.bytes.empty()) result = sink(taken.content_type, taken.bytes);
    if (!result.ok()) break;
    if (taken.end.has_value()) {
      result = *taken.end;
      break;
    }
  }
  // The pipe gets no more bytes, also if the stream lives a little longer.
  pipe->End(result);
  loop.Post([reading] { *reading = Reading(); });
  return result;
}

}  // namespace mandate
