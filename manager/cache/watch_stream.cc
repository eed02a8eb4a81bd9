#include "manager/cache/watch_stream.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "manager/cache/loop_timer.h"
#include "manager/cache/watch_request.h"
#include "manager/core/loop_label.h"
#include "manager/core/strings.h"

namespace mandate {

namespace {

// Frames of this size come and go in each turn of the loop.
constexpr size_t kNotCounted = size_t{64} << 10;
// How many bytes are decoded before the clock is read again.
constexpr size_t kBetweenLooks = size_t{64} << 10;

}  // namespace

// Outlives the WatchStream as long as the transport holds it, with observer_ null.
class WatchStream::Session : public StreamSink, public std::enable_shared_from_this<Session> {
 public:
  Session(RestClient& client, Options options, Observer& observer)
      : loop_(client.loop()),
        options_(options),
        component_(client.component()),
        observer_(&observer),
        started_(loop_.clock().TimeNow()),
        account_(options.account),
        guard_(loop_) {}

  void Start(RestClient& client, RestRequest request) {
    if (options_.lifetime < absl::InfiniteDuration()) {
      guard_.Set(started_ + options_.lifetime, [this] {
        Finish(
            absl::DeadlineExceededError("the server did not end the watch after timeoutSeconds"));
      });
    }
    stream_ = client.Watch(std::move(request), shared_from_this());
  }

  void Detach() {
    Mute();
    stream_.reset();
  }

  void Mute() {
    observer_ = nullptr;
    guard_.Cancel();
    splitter_.reset();
    if (account_ != nullptr) account_->SetQueued(0).IgnoreError();  // no more than before
    account_ = nullptr;
  }

  Flow OnOpen(const HttpResponse& head) override {
    if (IsMuted()) return Flow::kContinue;
    if (observer_ == nullptr || end_) return Flow::kCancel;
    encoding_ = EncodingOf(head.content_type);
    splitter_.emplace(encoding_, options_.max_frame_bytes);
    Schedule();
    return Flow::kContinue;
  }

  Flow OnData(std::string_view bytes) override {
    if (IsMuted()) return Flow::kContinue;
    if (observer_ == nullptr || end_ || !splitter_) return Flow::kCancel;
    queued_ += bytes.size();
    if (queued_ > options_.max_queue_bytes) {
      Overflow(absl::ResourceExhaustedError(
          StrCat("events arrive faster than they are processed: more than ",
                 options_.max_queue_bytes, " bytes are queued (max_queue_bytes)")));
      return Flow::kCancel;
    }
    if (absl::Status held = NoteHeld(); !held.ok()) {
      Overflow(std::move(held));
      return Flow::kCancel;
    }
    splitter_->Feed(bytes);
    Schedule();
    return Flow::kContinue;
  }

  void OnClosed(absl::Status status) override { Finish(std::move(status)); }

 private:
  // Its owner keeps it open, and does not want its events.
  bool IsMuted() const { return observer_ == nullptr && stream_ != nullptr; }
  absl::Status NoteHeld() {
    if (account_ == nullptr) return absl::OkStatus();
    return account_->SetQueued(queued_ < kNotCounted ? 0 : queued_);
  }

  void Schedule() {
    if (scheduled_) return;
    scheduled_ = true;
    loop_.Post([self = shared_from_this()] {
      self->scheduled_ = false;
      self->Turn();
    });
  }

  void Finish(absl::Status status) {
    if (observer_ == nullptr || end_) return;
    end_ = std::move(status);
    Schedule();
  }

  void Overflow(absl::Status status) { Break(End::Kind::kOverflow, std::move(status)); }
  void Break(End::Kind kind, absl::Status status) {
    broken_ = kind;
    Finish(std::move(status));
  }

  // The observer may destroy the WatchStream in any call: observer_ is then null.
  void Turn() {
    const LoopLabel label(component_, "events of a watch");
    if (observer_ != nullptr && splitter_ && !told_open_) {
      told_open_ = true;
      observer_->OnWatchOpen();
    }
    const size_t enough = queued_ / 2;
    size_t look_at = queued_ - std::min(queued_, kBetweenLooks);
    const absl::Time long_at = loop_.clock().TimeNow() + options_.long_turn;
    const auto is_long = [&] {
      if (queued_ > look_at || queued_ >= options_.max_queue_bytes / 2) return false;
      look_at = queued_ - std::min(queued_, kBetweenLooks);
      return loop_.clock().TimeNow() >= long_at;
    };
    for (int i = 0; observer_ != nullptr && splitter_ && !broken_; ++i) {
      if ((i >= options_.frames_per_turn && queued_ <= enough) || (i > 0 && is_long())) {
        Schedule();
        break;
      }
      auto frame = splitter_->Next();
      if (!frame.ok()) {
        end_.reset();
        Overflow(frame.status());
        break;
      }
      if (!*frame) break;
      Handle(**frame);
    }
    NoteHeld().IgnoreError();  // no more than before
    if (observer_ != nullptr && told_) {
      told_ = false;
      observer_->OnWatchTurn();
    }
    if (observer_ == nullptr || !end_ || scheduled_) return;
    Observer* observer = std::exchange(observer_, nullptr);
    const auto kind = broken_.value_or(splitter_ ? End::Kind::kClosed : End::Kind::kNeverOpened);
    if (kind == End::Kind::kNeverOpened && end_->ok()) {
      end_ = absl::UnavailableError("the watch was closed before the server responded");
    }
    const WatchStream::End end{kind, *end_, loop_.clock().TimeNow() - started_, events_};
    Detach();
    observer->OnWatchEnd(end);
  }

  void Handle(std::string_view frame) {
    // With the bytes that frame it: a line's end or a length.
    queued_ -= std::min(queued_, frame.size() + (encoding_ == Encoding::kJson ? 1 : 4));
    auto event = ParseWatchEvent(frame, encoding_);
    if (!event.ok()) {
      end_.reset();
      return Break(End::Kind::kInvalid, event.status());
    }
    if (event->type != WatchEventType::kError) ++events_;
    told_ = true;
    observer_->OnWatchEvent(*std::move(event));
  }

  Loop& loop_;
  const Options options_;
  const std::string component_;
  Observer* observer_;  // null: the watch has ended, or was destroyed
  const absl::Time started_;
  WatchBudget::Account* account_;  // null: none, or the same
  LoopTimer guard_;
  std::unique_ptr<Stream> stream_;
  Encoding encoding_ = Encoding::kJson;
  std::optional<FrameSplitter> splitter_;  // since the stream is open
  size_t queued_ = 0;
  int events_ = 0;
  bool told_open_ = false;
  bool told_ = false;  // events, in this turn
  bool scheduled_ = false;
  std::optional<End::Kind> broken_;  // kOverflow or kInvalid
  std::optional<absl::Status> end_;
};

WatchStream::WatchStream(RestClient& client, RestRequest request, Options options,
                         Observer& observer)
    : session_(std::make_shared<Session>(client, options, observer)) {
  session_->Start(client, std::move(request));
}

WatchStream::~WatchStream() { session_->Detach(); }

void WatchStream::Mute() { session_->Mute(); }

}  // namespace mandate
