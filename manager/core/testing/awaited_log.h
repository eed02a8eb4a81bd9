// A log whose lines can be waited for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "manager/core/testing/log_capture.h"

namespace mandate {

// Thread-safe.
class AwaitedLog : public LogCapture {
 public:
  void Write(const LogRecord& record) override;
  // Waits for a line that has `text`, and returns it. After `limit` the test fails, and the result
  // is
  // "".
  std::string Await(std::string_view text, std::chrono::seconds limit = std::chrono::minutes(1));

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace mandate
