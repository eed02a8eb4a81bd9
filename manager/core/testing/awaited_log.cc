#include "manager/core/testing/awaited_log.h"

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace mandate {

void AwaitedLog::Write(const LogRecord& record) {
  LogCapture::Write(record);
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

std::string AwaitedLog::Await(std::string_view text, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, deadline, [&] { return Count(text) > 0; })) return Last(text);
  ADD_FAILURE() << "no line of the log has \"" << text << "\" after " << limit.count()
                << " s; the log:\n"
                << absl::StrJoin(lines(), "\n");
  return "";
}

}  // namespace mandate
