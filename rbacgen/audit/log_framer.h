// Cuts logs into events, in memory bounded by one event.
//
// A log consists of lines with one Event each, as --audit-log-path writes them, or of documents
// over one or more lines: an EventList of any size, as --audit-webhook-config-file posts them, an
// array, or an indented Event. A damaged part is reported and skipped; reading continues at the
// next good line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate::rbacgen {

struct FrameSink {
  // Takes the text of a candidate event, valid until the call returns. Returns an error if the text
  // is not an event.
  std::function<absl::Status(std::string_view text)> event;
  // Takes a part that could not be read: its log, its line and the reason.
  std::function<void(const std::string& log, int64_t line, std::string_view why)> damaged;
};

// Not thread-safe.
class LogFramer {
 public:
  // `max_event` is in bytes, at least 512. Longer events are reported as damaged and skipped.
  LogFramer(size_t max_event, FrameSink sink);

  // Begins the next log; logs come in the order of time. A line that rotation cut in two is joined
  // again.
  void BeginLog(std::string name);
  void Add(std::string_view bytes);
  // Ends the last log. True if its last line is unfinished, because its writer may still be writing
  // it.
  bool Finish();

 private:
  void Settle();
  void AddLineBytes(std::string_view* bytes);
  void EndLine(std::string_view line);
  void TryLine(std::string_view line);
  void Damaged(std::string_view why) { sink_.damaged(name_, line_, why); }

  void BeginDocument();
  void AddDocumentBytes(std::string_view* bytes);
  // Reads one byte of a document; false if the document ended with it or is abandoned.
  bool Step(char c);
  bool StepInString(char c);
  bool ItemMayBegin() const;
  void Open(char c);
  bool Close(char c);
  void Keep(char c);
  void AbandonDocument(std::string_view why);

  const size_t max_event_;
  const FrameSink sink_;
  std::string name_;
  int64_t line_ = 1;
  size_t mark_ = 0;      // how many bytes of a byte order mark the log began with
  std::string held_;     // the part that was read of a line, or of an event within a document
  std::string cut_off_;  // the unfinished last line of the previous log
  int64_t cut_off_line_ = 0;
  std::string cut_off_log_;
  enum class Mode { kLine, kSkip, kDocument } mode_ = Mode::kLine;

  // The state of a document.
  struct Document {
    int depth = 0;
    bool in_string = false, escaped = false;
    bool is_list = false;       // its events are the members of "items"
    bool is_array = false;      // its events are the elements of the array
    bool key_expected = false;  // at depth 1: the next string is a member's name
    bool in_name = false;       // the parser is within that name
    bool keeping = false;       // held_ collects an event
    bool too_long = false;      // the event is longer than max_event_
    bool at_line_start = true;
    int event_depth = 0;  // the depth of the event that is kept; 0 for the whole document
    std::string name;     // the name of the current member at depth 1
  } document_;
};

}  // namespace mandate::rbacgen
