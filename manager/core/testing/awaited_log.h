// A log whose lines can be waited for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "manager/core/testing/log_capture.h"

namespace mandate {

// Thread-safe.
class AwaitedLog : public LogCapture {
 public:
  void Write(const LogRecord& record) override {
    LogCapture::Write(record);
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  // Waits for a line that has `text`, and returns it. After `limit` the test fails, and the result
  // is
  // "".
  std::string Await(std::string_view text, std::chrono::seconds limit = std::chrono::minutes(1)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::unique_lock lock(mutex_);
    if (changed_.wait_until(lock, deadline, [&] { return Count(text) > 0; })) return Last(text);
    ADD_FAILURE() << "no line of the log has \"" << text << "\" after " << limit.count()
                  << " s; the log:\n"
                  << absl::StrJoin(lines(), "\n");
    return "";
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace mandate
