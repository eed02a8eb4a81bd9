#include "testing/apiserver/stream_fault.h"

#include <string_view>
#include <utility>

#include "testing/apiserver/object_io.h"

namespace mandate::apiserver {
namespace {

// The type is the first field in both encodings.
bool IsBookmark(std::string_view frame) {
  return frame.substr(0, 32).find("BOOKMARK") != std::string_view::npos;
}

bool IsJson(std::string_view frame) { return frame.starts_with('{'); }

// A complete frame that is not a valid event.
std::string GarbageLike(std::string_view frame) {
  return IsJson(frame) ? "{\"type\":\"ADDED\",\"object\":42}\n"
                       : std::string("\0\0\0\2\x0A\x7F", 6);
}

}  // namespace

void StreamFault::Attach(Loop& loop, const Fault& fault, uint64_t seed, Exchange& exchange) {
  auto self = std::make_shared<StreamFault>(loop, fault, seed, exchange);
  exchange.SetRelay([self](std::optional<std::string> frame) { self->Accept(std::move(frame)); });
  exchange.OnClosed([weak = std::weak_ptr<StreamFault>(self)] {
    if (auto fault = weak.lock()) {
      fault->timer_.reset();
      fault->queue_.clear();
    }
  });
}

double StreamFault::Roll() {
  return static_cast<double>(random_() >> 11) / static_cast<double>(1ull << 53);
}

void StreamFault::Accept(std::optional<std::string> frame) {
  if (frame && IsBookmark(*frame)) {
    if (Roll() < fault_.drop_bookmarks) return;
    if (fault_.late_bookmarks && !held_bookmark_) {
      held_bookmark_ = std::move(frame);
      return;
    }
  }
  queue_.push_back(std::move(frame));
  if (held_bookmark_ && queue_.back())
    queue_.push_back(std::exchange(held_bookmark_, std::nullopt));
  if (timer_ == nullptr) Pump();
}

void StreamFault::Pump() {
  timer_.reset();
  while (!queue_.empty()) {
    std::optional<std::string> frame = std::move(queue_.front());
    queue_.pop_front();
    if (!Send(std::move(frame))) return;
    if (fault_.frame_delay <= absl::ZeroDuration()) continue;
    timer_ = loop_.RunAt(loop_.clock().TimeNow() + fault_.frame_delay,
                         [self = shared_from_this()] { self->Pump(); });
    return;
  }
}

bool StreamFault::Send(std::optional<std::string> frame) {
  if (fault_.stall_after && sent_ >= *fault_.stall_after) return false;
  if (frame && fault_.end_after && sent_ >= *fault_.end_after) {
    End(*frame);
    return false;
  }
  if (frame && fault_.garbage > 0 && Roll() < fault_.garbage) {
    exchange_.Deliver(GarbageLike(*frame));
  }
  ++sent_;
  const bool over = !frame;
  exchange_.Deliver(std::move(frame));
  return !over;
}

void StreamFault::End(const std::string& next_frame) {
  if (fault_.error_event) {
    exchange_.Deliver(WriteErrorEvent(*fault_.error_event,
                                      IsJson(next_frame) ? Encoding::kJson : Encoding::kProtobuf));
  }
  if (fault_.cut) {
    exchange_.Deliver(next_frame.substr(0, next_frame.size() / 2));
    exchange_.Abort();
  } else {
    exchange_.Deliver(std::nullopt);
  }
}

}  // namespace mandate::apiserver
