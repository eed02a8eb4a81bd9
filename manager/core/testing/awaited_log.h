// A log whose lines can be waited for.
#pragma once

#include <string>
#include <string_view>

#include "manager/core/mutex.h"
#include "manager/core/testing/log_capture.h"

namespace mandate {

// Thread-safe.
class AwaitedLog : public LogCapture {
 public:
  void Write(const LogRecord& record) override {
    LogCapture::Write(record);
    MutexLock lock(mutex_);
    changed_.NotifyAll();
  }
  // Waits for a line that has `text`, and returns it.
  std::string Await(std::string_view text) {
    MutexLock lock(mutex_);
    while (Count(text) == 0) changed_.Wait(mutex_);
    return Last(text);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
};

}  // namespace mandate
