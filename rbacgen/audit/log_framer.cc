#include "rbacgen/audit/log_framer.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

// The beginning of an Event as kube-apiserver writes it. Its quotes are unescaped, so no string
// contains it.
constexpr std::string_view kEventStart = R"({"kind":"Event","apiVersion":"audit.k8s.io/v1")";
// Some editors put this before a file's first line; it has no meaning here.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// A document must show within this many bytes that it is a list.
constexpr size_t kListPrefix = 512;
constexpr size_t kMaxName = 64;

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Whether this line begins a document, which is read as a stream.
bool BeginsDocument(std::string_view line) {
  line = Trim(line.substr(0, kListPrefix));
  if (line.starts_with(kEventStart)) return false;
  if (line == "{" || line.starts_with("[")) return true;
  return line.starts_with("{") &&
         (line.find(R"("EventList")") != line.npos || line.find(R"("items":[)") != line.npos ||
          line.find(R"("items": [)") != line.npos);
}

}  // namespace

LogFramer::LogFramer(size_t max_event, FrameSink sink)
    : max_event_(std::max(max_event, kListPrefix)), sink_(std::move(sink)) {}

// Text that ended without a line feed may be a document that is shorter than kListPrefix.
void LogFramer::Settle() {
  while (mode_ == Mode::kLine && cut_off_.empty() && BeginsDocument(held_)) {
    const std::string bytes = std::exchange(held_, "");
    BeginDocument();
    std::string_view rest = bytes;
    AddDocumentBytes(&rest);
    if (mode_ == Mode::kLine) held_ += rest;
  }
}

void LogFramer::BeginLog(std::string name) {
  Settle();
  if (!name_.empty() || line_ > 1 || !held_.empty()) {
    if (mode_ == Mode::kDocument) AbandonDocument("the document is truncated");
    if (mode_ == Mode::kSkip) mode_ = Mode::kLine;
    // If only the line feed is missing, the line is complete.
    if (!held_.empty() && !sink_.event(Trim(held_)).ok()) {
      cut_off_ = std::move(held_);
      cut_off_line_ = line_;
      cut_off_log_ = name_;
    }
  }
  held_.clear();
  name_ = std::move(name);
  line_ = 1;
  mark_ = 0;
}

void LogFramer::Add(std::string_view bytes) {
  while (mark_ < kByteOrderMark.size() && !bytes.empty()) {
    if (bytes.front() != kByteOrderMark[mark_]) {
      mark_ = kByteOrderMark.size();
      break;
    }
    bytes.remove_prefix(1);
    ++mark_;
  }
  while (!bytes.empty()) {
    if (mode_ == Mode::kDocument) {
      AddDocumentBytes(&bytes);
    } else {
      AddLineBytes(&bytes);
    }
  }
}

void LogFramer::AddLineBytes(std::string_view* bytes) {
  const size_t feed = bytes->find('\n');
  const std::string_view part = bytes->substr(0, feed);
  if (mode_ == Mode::kSkip) {
    bytes->remove_prefix(feed == bytes->npos ? bytes->size() : feed + 1);
    if (feed == bytes->npos) return;
    mode_ = Mode::kLine;
    ++line_;
    return;
  }
  // The line must be long enough to show whether it begins a document.
  const bool whole = feed != bytes->npos;
  const size_t known = held_.size();
  if (known < kListPrefix && (whole || known + part.size() >= kListPrefix)) {
    const size_t more = std::min(part.size(), kListPrefix - known);
    bool document = false;
    if (known == 0) {
      document = BeginsDocument(part.substr(0, more));
    } else {
      document = BeginsDocument(StrCat(held_, part.substr(0, more)));
    }
    if (document && cut_off_.empty()) {
      const std::string before = std::exchange(held_, "");
      BeginDocument();
      // The held text has no line feed, and is shorter than kListPrefix.
      std::string_view rest = before;
      AddDocumentBytes(&rest);
      if (mode_ != Mode::kDocument) held_ = rest;
      return;
    }
  }
  bytes->remove_prefix(whole ? feed + 1 : bytes->size());
  if (held_.size() + part.size() > max_event_) {
    held_.clear();
    Damaged(StrCat("longer than ", max_event_, " bytes"));
    if (whole) {
      ++line_;
    } else {
      mode_ = Mode::kSkip;
    }
    return;
  }
  if (!whole) {
    held_ += part;
    return;
  }
  if (held_.empty()) {
    EndLine(part);
  } else {
    held_ += part;
    EndLine(held_);
    held_.clear();
  }
  ++line_;
}

void LogFramer::EndLine(std::string_view line) {
  line = Trim(line);
  if (cut_off_.empty()) {
    if (!line.empty()) TryLine(line);
    return;
  }
  // This is the first line of a log, and the last line of the log before was cut off.
  const std::string before = std::exchange(cut_off_, "");
  const bool alone = !line.empty() && sink_.event(line).ok();
  if (!alone && before.size() + line.size() <= max_event_ &&
      sink_.event(StrCat(before, line)).ok()) {
    return;
  }
  sink_.damaged(cut_off_log_, cut_off_line_, "the line is truncated");
  if (!alone && !line.empty()) TryLine(line);
}

void LogFramer::TryLine(std::string_view line) {
  const absl::Status status = sink_.event(line);
  if (status.ok()) return;
  // A crash or another writer may have cut off the line; events that begin within it may be
  // complete.
  bool rescued = false;
  for (size_t at = line.find(kEventStart, 1); at != line.npos;) {
    const size_t next = line.find(kEventStart, at + 1);
    rescued = sink_.event(Trim(line.substr(at, next - at))).ok() || rescued;
    at = next;
  }
  // The text before them may be a complete event too.
  if (rescued) rescued = sink_.event(Trim(line.substr(0, line.find(kEventStart, 1)))).ok();
  if (!rescued) Damaged(AsStd(status.message()));
}

bool LogFramer::Finish() {
  Settle();
  if (mode_ == Mode::kDocument) {
    AbandonDocument("the document is truncated");
    return false;
  }
  if (mode_ == Mode::kSkip) return false;  // the damage was reported where the line began
  const std::string last = std::exchange(held_, "");
  const std::string_view line = Trim(last);
  if (!cut_off_.empty()) {
    EndLine(line);
    return false;
  }
  if (line.empty()) return false;
  if (sink_.event(line).ok()) return false;
  if (!line.ends_with('}')) return true;
  TryLine(line);
  return false;
}

void LogFramer::BeginDocument() {
  mode_ = Mode::kDocument;
  document_ = Document();
  document_.keeping = true;
}

void LogFramer::AddDocumentBytes(std::string_view* bytes) {
  size_t at = 0;
  bool goes_on = true;
  while (at < bytes->size() && goes_on) goes_on = Step((*bytes)[at++]);
  bytes->remove_prefix(at);
}

void LogFramer::Keep(char c) {
  if (!document_.keeping || document_.too_long) return;
  if (held_.size() < max_event_) {
    held_.push_back(c);
    return;
  }
  document_.too_long = true;
  std::string().swap(held_);
}

bool LogFramer::Step(char c) {
  Document& d = document_;
  if (d.in_string) return StepInString(c);
  const bool line_start = std::exchange(d.at_line_start, c == '\n');
  if (c == '\n') ++line_;
  // At the beginning of a line, without indentation, no nested object can begin except an item of a
  // list.
  if (c == '{' && line_start && d.depth > 0 && !ItemMayBegin()) {
    AbandonDocument("the document is truncated");
    held_ = "{";
    return false;
  }
  switch (c) {
    case '"':
      d.in_string = true;
      d.in_name = d.depth == 1 && d.key_expected && !d.is_array;
      if (d.in_name) d.name.clear();
      break;
    case '{':
    case '[':
      Open(c);
      return true;
    case '}':
    case ']':
      return Close(c);
    case ',':
      if (d.depth == 1) d.key_expected = true;
      break;
    case ':':
      if (d.depth == 1) d.key_expected = false;
      break;
    default:
      break;
  }
  Keep(c);
  return true;
}

bool LogFramer::StepInString(char c) {
  Document& d = document_;
  if (c == '\n') {
    ++line_;
    AbandonDocument("a string is not closed");
    return false;
  }
  if (d.escaped) {
    d.escaped = false;
  } else if (c == '\\') {
    d.escaped = true;
  } else if (c == '"') {
    d.in_string = false;
    d.in_name = false;
  }
  if (d.in_name && d.name.size() < kMaxName) d.name.push_back(c);
  Keep(c);
  return true;
}

bool LogFramer::ItemMayBegin() const {
  const Document& d = document_;
  return !d.keeping && (d.is_array ? d.depth == 1 : d.is_list && d.depth == 2);
}

void LogFramer::Open(char c) {
  Document& d = document_;
  if (d.depth == 0) {
    d.is_array = c == '[';
    d.key_expected = true;
    d.keeping = !d.is_array;
  } else if (d.depth == 1 && c == '[' && !d.is_array && d.name == "items") {
    d.is_list = true;
    d.keeping = false;
    std::string().swap(held_);
  } else if (c == '{' && ItemMayBegin()) {
    d.keeping = true;
    d.too_long = false;
    d.event_depth = d.depth;
    held_.clear();
  }
  Keep(c);
  ++d.depth;
}

bool LogFramer::Close(char c) {
  Document& d = document_;
  if (d.depth == 0) {
    AbandonDocument(StrCat("'", std::string_view(&c, 1), "' has no opening bracket"));
    return false;
  }
  Keep(c);
  --d.depth;
  if (d.keeping && d.depth == d.event_depth) {
    if (d.too_long) {
      Damaged(StrCat("longer than ", max_event_, " bytes"));
    } else if (const absl::Status status = sink_.event(held_); !status.ok()) {
      Damaged(AsStd(status.message()));
    }
    d.keeping = false;
    held_.clear();
  }
  if (d.depth > 0) return true;
  mode_ = Mode::kLine;
  held_.clear();
  return false;
}

void LogFramer::AbandonDocument(std::string_view why) {
  Damaged(why);
  mode_ = Mode::kLine;
  held_.clear();
}

}  // namespace mandate::rbacgen
