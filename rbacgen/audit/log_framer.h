// Cuts logs into events, in memory bounded by one event.
//
// A log is lines of Events, as --audit-log-path writes them, or documents over one or more lines:
// an EventList of any size, as --audit-webhook-config-file posts them, an array, an indented Event.
// A damaged part is reported and skipped; reading continues at the next good line.
#ifndef RBACGEN_AUDIT_LOG_FRAMER_H_
#define RBACGEN_AUDIT_LOG_FRAMER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate::rbacgen {

struct FrameSink {
  // The text of a candidate event; valid until the call returns. Returns an error if it is not one.
  std::function<absl::Status(std::string_view text)> event;
  // A part that could not be read: its log, its line and the reason.
  std::function<void(const std::string& log, int64_t line, std::string_view why)> damaged;
};

// Not thread-safe.
class LogFramer {
 public:
  // `max_event`, in bytes, at least 512: longer events are skipped as damaged.
  LogFramer(size_t max_event, FrameSink sink);

  // The logs in order of time. A line that was cut by the rotation is joined again.
  void BeginLog(std::string name);
  void Add(std::string_view bytes);
  // The end of the last log. True if its last line was not finished: its writer may still be
  // writing it.
  bool Finish();

 private:
  void Settle();
  void AddLineBytes(std::string_view* bytes);
  void EndLine(std::string_view line);
  void TryLine(std::string_view line);
  void Damaged(std::string_view why) { sink_.damaged(name_, line_, why); }

  void BeginDocument();
  void AddDocumentBytes(std::string_view* bytes);
  // One byte of a document; false when the document ended with it, or is abandoned.
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
  size_t mark_ = 0;      // bytes of a byte order mark that the log began with
  std::string held_;     // of a line, or of an event within a document
  std::string cut_off_;  // the unfinished last line of the log before
  int64_t cut_off_line_ = 0;
  std::string cut_off_log_;
  enum class Mode { kLine, kSkip, kDocument } mode_ = Mode::kLine;

  // Of a document.
  struct Document {
    int depth = 0;
    bool in_string = false, escaped = false;
    bool is_list = false;       // its events are its items
    bool is_array = false;      // its events are its elements
    bool key_expected = false;  // at depth 1: the next string is a member's name
    bool in_name = false;       // within that name
    bool keeping = false;       // held_ collects an event
    bool too_long = false;      // of what held_ collects
    bool at_line_start = true;
    int event_depth = 0;  // of what is kept: 0 the whole document
    std::string name;     // the member's at depth 1
  } document_;
};

}  // namespace mandate::rbacgen

#endif  // RBACGEN_AUDIT_LOG_FRAMER_H_
