// A log of the objects that cannot be read, bounded for each pass of a reflector.
#ifndef MANAGER_CACHE_UNREADABLE_LOG_H_
#define MANAGER_CACHE_UNREADABLE_LOG_H_

#include <utility>

#include "manager/core/log.h"
#include "manager/object/unreadable.h"

namespace mandate {

// Loop thread only.
class UnreadableLog {
 public:
  static constexpr int kMaxLines = 10;  // of a pass and of the watch after it

  explicit UnreadableLog(Logger log) : log_(std::move(log)) {}

  void StartPass() { lines_ = 0; }
  void Add(const UnreadableObject& object) {
    if (lines_ == kMaxLines) return;
    ++lines_;
    log_.Error("An object, or an event of one, cannot be read",
               {{"object", object.Name()}, {"error", object.why}});
  }

 private:
  const Logger log_;
  int lines_ = 0;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_UNREADABLE_LOG_H_
