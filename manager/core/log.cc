#include "manager/core/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include "manager/core/strings.h"

namespace mandate {
namespace {

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kError:
      return "ERROR";
  }
  return "?";
}

void AppendQuoted(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += kHex[(c >> 4) & 0xf];
          out += kHex[c & 0xf];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

void AppendText(std::string& out, std::string_view key, const LogValue& value) {
  StrAppend(&out, " ", key, "=");
  if (NeedsQuotes(value.text())) {
    AppendQuoted(out, value.text());
  } else {
    StrAppend(&out, value.text());
  }
}

void AppendJson(std::string& out, std::string_view key, const LogValue& value) {
  out += ',';
  AppendQuoted(out, key);
  out += ':';
  if (value.quoted()) {
    AppendQuoted(out, value.text());
  } else {
    StrAppend(&out, value.text());
  }
}

class StderrSink : public LogSink {
 public:
  StderrSink(LogFormat format, int verbosity) : format_(format), verbosity_(verbosity) {
    // The line is complete already; spdlog brings the locking and the writing.
    sink_.set_pattern("%v");
  }

  void Write(const LogRecord& record) override {
    const std::string line = FormatRecord(record, format_);
    sink_.log(spdlog::details::log_msg("", spdlog::level::info, line));
    sink_.flush();
  }

  int verbosity() const override { return verbosity_; }

 private:
  const LogFormat format_;
  const int verbosity_;
  spdlog::sinks::stderr_sink_mt sink_;
};

}  // namespace

std::shared_ptr<LogSink> StderrLogSink(LogFormat format, int verbosity) {
  return std::make_shared<StderrSink>(format, verbosity);
}

std::string FormatRecord(const LogRecord& record, LogFormat format) {
  const std::string time =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", record.time, absl::UTCTimeZone());
  std::string out;
  const auto append = format == LogFormat::kText ? AppendText : AppendJson;
  if (format == LogFormat::kText) {
    out = StrCat(time, " ", LevelName(record.level), " ", record.message);
  } else {
    out = StrCat(R"({"ts":")", time, R"(","level":")", LevelName(record.level), R"(","msg":)");
    AppendQuoted(out, record.message);
  }
  if (record.bound != nullptr) {
    for (const auto& [key, value] : *record.bound) append(out, key, value);
  }
  for (const auto& [key, value] : record.fields) append(out, key, value);
  if (format == LogFormat::kJson) out += '}';
  return out;
}

Logger Logger::With(std::string_view key, LogValue value) const {
  Logger result = *this;
  auto bound = bound_ ? std::make_shared<LogFields>(*bound_) : std::make_shared<LogFields>();
  bound->emplace_back(key, std::move(value));
  result.bound_ = std::move(bound);
  return result;
}

void Logger::Write(LogLevel level, int verbosity, std::string_view message, Fields fields) const {
  if (sink_ == nullptr || (level == LogLevel::kDebug && verbosity > sink_->verbosity())) return;
  sink_->Write({clock_->WallTimeNow(), level, verbosity, message, bound_.get(), fields});
}

void Logger::Info(std::string_view message, Fields fields) const {
  Write(LogLevel::kInfo, 0, message, fields);
}

void Logger::Error(std::string_view message, Fields fields) const {
  Write(LogLevel::kError, 0, message, fields);
}

void Logger::Debug(int verbosity, std::string_view message, Fields fields) const {
  Write(LogLevel::kDebug, verbosity, message, fields);
}

}  // namespace mandate
