#include "manager/core/loop_watchdog.h"

#include <string>
#include <utility>

namespace mandate {
namespace {

std::string LabelOf(const LoopActivity::Turn& turn) {
  return turn.label.empty() ? "(no label)" : turn.label;
}

}  // namespace

LoopWatchdog::LoopWatchdog(Options options)
    : options_(std::move(options)),
      long_turns_(
          options_.metrics == nullptr
              ? nullptr
              : &options_.metrics->Counter("mandate_event_loop_long_turns_total",
                                           "Turns of the event loop that exceeded the limit", {})),
      held_(options_.metrics == nullptr
                ? nullptr
                : &options_.metrics->Gauge("mandate_event_loop_blocked_seconds",
                                           "Seconds that the event loop's current turn has taken "
                                           "so far, if it exceeds the limit",
                                           {})) {}

void LoopWatchdog::Start() {
  Look();
  Loop& loop = *options_.loop;
  timer_ = loop.RunAt(loop.clock().TimeNow() + options_.activity->limit() / 2, [this] { Start(); });
}

void LoopWatchdog::Look() {
  const LoopActivity::View view = options_.activity->Look();
  for (const LoopActivity::Turn& turn : view.ended) {
    if (turn.number != reported_) {
      Report("The event loop was blocked", turn);
    } else {
      options_.log.Info("The event loop runs again",
                        {{"duration", turn.length}, {"label", LabelOf(turn)}});
    }
  }
  const bool held = view.running.has_value() && view.running->length >= options_.activity->limit();
  if (held && view.running->number != reported_ &&
      Report("The event loop is blocked", *view.running)) {
    reported_ = view.running->number;
  }
  if (options_.metrics == nullptr) return;
  long_turns_->Increment(static_cast<double>(view.long_turns - counted_));
  counted_ = view.long_turns;
  held_->Set(held ? absl::ToDoubleSeconds(view.running->length) : 0);
}

bool LoopWatchdog::Report(std::string_view message, const LoopActivity::Turn& turn) {
  const absl::Time now = options_.loop->clock().TimeNow();
  if (now < next_line_at_) {
    if (std::exchange(omitted_, turn.number) != turn.number) ++omissions_;
    return false;
  }
  if (turn.number == omitted_) --omissions_;  // it is reported after all
  next_line_at_ = now + options_.min_log_interval;
  options_.log.Error(message, {{"duration", turn.length},
                               {"label", LabelOf(turn)},
                               {"omittedLines", std::exchange(omissions_, 0)}});
  return true;
}

}  // namespace mandate
