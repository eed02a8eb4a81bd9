// Keeps log lines, so that a test can check them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "manager/core/log.h"
#include "manager/core/mutex.h"

namespace mandate {

// Thread-safe.
class LogCapture : public LogSink {
 public:
  explicit LogCapture(int verbosity = 0) : verbosity_(verbosity) {}

  void Write(const LogRecord& record) override {
    MutexLock lock(mutex_);
    lines_.push_back(FormatRecord(record, LogFormat::kText));
  }
  int verbosity() const override { return verbosity_; }

  std::vector<std::string> lines() const {
    MutexLock lock(mutex_);
    return lines_;
  }
  // The number of lines that contain `text`.
  int Count(std::string_view text) const {
    MutexLock lock(mutex_);
    return static_cast<int>(std::count_if(lines_.begin(), lines_.end(), [&](const auto& line) {
      return line.find(text) != std::string::npos;
    }));
  }
  // The last line that contains `text`, or "".
  std::string Last(std::string_view text) const {
    MutexLock lock(mutex_);
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
      if (line->find(text) != std::string::npos) return *line;
    }
    return "";
  }

 private:
  const int verbosity_;
  mutable Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
