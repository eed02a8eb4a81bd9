#include "manager/cache/watch_closer.h"

#include <algorithm>
#include <utility>

namespace mandate {

WatchCloser::WatchCloser(Options options, Loop& loop, Metrics& metrics)
    : options_(options),
      loop_(loop),
      closing_(metrics.Gauge("mandate_cache_watches_closing",
                             "Watches that are no longer needed, and wait to be closed", {})),
      tokens_({options.per_second, options.burst}, loop.clock().TimeNow()),
      timer_(loop) {}

WatchCloser::~WatchCloser() { closing_.Set(0); }

void WatchCloser::Close(std::unique_ptr<WatchStream> watch) {
  watch->Mute();
  waiting_.push_back(std::move(watch));
  if (waiting_.size() > static_cast<size_t>(options_.max_waiting)) waiting_.pop_front();
  closing_.Set(static_cast<double>(waiting_.size()));
  if (!timer_.IsSet()) Run();
}

void WatchCloser::Finish(absl::Time deadline, std::function<void()> done) {
  deadline_ = deadline;
  done_ = std::move(done);
  timer_.Set(loop_.clock().TimeNow(), [this] { Run(); });
}

void WatchCloser::Run() {
  const absl::Time now = loop_.clock().TimeNow();
  while (!waiting_.empty() && tokens_.Wait(now) == absl::ZeroDuration()) {
    tokens_.Take(now);
    waiting_.pop_front();
  }
  if (now >= deadline_) waiting_.clear();
  closing_.Set(static_cast<double>(waiting_.size()));
  if (!waiting_.empty()) {
    timer_.Set(std::min(now + tokens_.Wait(now), deadline_), [this] { Run(); });
  } else if (const auto done = std::exchange(done_, nullptr)) {
    done();
  }
}

}  // namespace mandate
