#include "manager/cache/initial_state.h"

#include <utility>

namespace mandate {

InitialState::InitialState(Loop& loop, absl::Duration silence, std::function<void()> on_silence)
    : silence_(silence),
      on_silence_(std::move(on_silence)),
      loop_(loop),
      timer_(loop),
      last_event_(loop.clock().TimeNow()) {
  timer_.Set(last_event_ + silence_, [this] { Listen(); });
}

// There is one timer for each silence, and not one for each event.
void InitialState::Listen() {
  const absl::Time limit = last_event_ + silence_;
  if (loop_.clock().TimeNow() >= limit) {
    // on_silence_() may destroy this object, and on_silence_ with it: call a copy.
    const auto on_silence = on_silence_;
    return on_silence();
  }
  timer_.Set(limit, [this] { Listen(); });
}

absl::Status InitialState::Take(WatchEvent event) {
  if (event.type != WatchEventType::kUnknown) last_event_ = loop_.clock().TimeNow();
  switch (event.type) {
    case WatchEventType::kError:
      return std::move(event.error);
    case WatchEventType::kBookmark:
    case WatchEventType::kUnknown:
      break;
    case WatchEventType::kAdded:
    case WatchEventType::kModified:
      store_.Put(std::move(event.object));
      break;
    case WatchEventType::kDeleted:
      store_.Remove(std::move(event.object));
      break;
  }
  return absl::OkStatus();
}

}  // namespace mandate
