// Structured logs: a constant message and key/value pairs.
//
//   log.With("controller", "scope").Info("Reconciled", {{"name", key.name}, {"duration", took}});
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/clock.h"

namespace mandate {

// One value, already text. Secret has no conversion: it cannot be logged.
class LogValue {
 public:
  LogValue(std::string_view text) : text_(text) {}
  LogValue(const char* text) : text_(text) {}
  LogValue(const std::string& text) : text_(text) {}
  LogValue(bool value) : text_(value ? "true" : "false"), quoted_(false) {}
  LogValue(int value) : text_(std::to_string(value)), quoted_(false) {}
  LogValue(int64_t value) : text_(std::to_string(value)), quoted_(false) {}
  LogValue(size_t value) : text_(std::to_string(value)), quoted_(false) {}
  LogValue(absl::Duration value) : text_(absl::FormatDuration(value)) {}
  LogValue(const absl::Status& status) : text_(std::string(status.message())) {}

  std::string_view text() const { return text_; }
  // Whether it is a string in JSON, and not a number or Boolean.
  bool quoted() const { return quoted_; }

 private:
  std::string text_;
  bool quoted_ = true;
};

using LogFields = std::vector<std::pair<std::string, LogValue>>;

enum class LogLevel { kDebug, kInfo, kError };

struct LogRecord {
  absl::Time time;
  LogLevel level;
  int verbosity;  // of kDebug: 1 and up
  std::string_view message;
  const LogFields* bound;  // from With(), outermost first
  std::initializer_list<std::pair<std::string_view, LogValue>> fields;
};

// A destination of log records. Implementations are thread-safe.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(const LogRecord& record) = 0;
  // Debug records above this are not made.
  virtual int verbosity() const = 0;
};

enum class LogFormat { kText, kJson };

// Writes lines to stderr. Each line is written whole, even if many threads log.
std::shared_ptr<LogSink> StderrLogSink(LogFormat format, int verbosity);

// A line of text without its newline: `2026-11-21T02:27:45.123Z INFO Reconciled name=foo`.
std::string FormatRecord(const LogRecord& record, LogFormat format);

// A value; cheap to copy. Thread-safe.
class Logger {
 public:
  using Fields = std::initializer_list<std::pair<std::string_view, LogValue>>;

  // Writes nowhere.
  Logger() = default;
  Logger(std::shared_ptr<LogSink> sink, const Clock& clock)
      : sink_(std::move(sink)), clock_(&clock) {}

  // A logger that adds this to every record.
  Logger With(std::string_view key, LogValue value) const;

  void Info(std::string_view message, Fields fields = {}) const;
  void Error(std::string_view message, Fields fields = {}) const;
  // Seen with -v=`verbosity` and above.
  void Debug(int verbosity, std::string_view message, Fields fields = {}) const;
  // Whether Debug(`verbosity`, …) writes, so that callers can avoid work that only the record
  // needs.
  bool IsDebug(int verbosity) const { return sink_ != nullptr && verbosity <= sink_->verbosity(); }

 private:
  void Write(LogLevel level, int verbosity, std::string_view message, Fields fields) const;

  std::shared_ptr<LogSink> sink_;
  const Clock* clock_ = nullptr;
  std::shared_ptr<const LogFields> bound_;
};

}  // namespace mandate
