// Decides whether a Warning header is new or was reported before.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace mandate {

// A bounded set of the warnings that were reported. Single-threaded.
class ReportedWarnings {
 public:
  // The set has at most `most` texts. A further text replaces the oldest one, which is new again
  // the next time.
  explicit ReportedWarnings(size_t most) : most_(most) {}

  // Whether `text` is not in the set. Adds it.
  bool IsNew(std::string_view text) {
    if (!seen_.insert(std::string(text)).second) return false;
    by_age_.emplace_back(text);
    if (by_age_.size() > most_) {
      seen_.erase(by_age_.front());
      by_age_.pop_front();
    }
    return true;
  }

 private:
  const size_t most_;
  std::set<std::string, std::less<>> seen_;
  std::deque<std::string> by_age_;
};

}  // namespace mandate
