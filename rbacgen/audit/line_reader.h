// Lines of a file of any size, in bounded memory.
#ifndef RBACGEN_AUDIT_LINE_READER_H_
#define RBACGEN_AUDIT_LINE_READER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate::rbacgen {

struct LineSink {
  // Without the line feed; the view lives until the call returns. `ended` is false for a last line
  // without a line feed, which its writer may not have finished.
  std::function<void(std::string_view line, bool ended)> line;
  // A line longer than the bound, passed over.
  std::function<void()> too_long;
};

// Reads the file, or standard input for "-", to its end. NotFound, or Unavailable with the reason.
absl::Status ReadLines(const std::string& path, size_t max_line, const LineSink& sink);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_AUDIT_LINE_READER_H_
