// A comment above a declaration, as documentation.
#ifndef RBACGEN_EMIT_CRD_DOC_COMMENT_H_
#define RBACGEN_EMIT_CRD_DOC_COMMENT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbacgen {

struct DocComment {
  // As in controller-gen v0.23: lines stay lines; blank lines separate paragraphs. Omits markers,
  // lines that begin with TODO, and all from a line that begins with "---".
  std::string description;
  // The marker lines, without their "+".
  std::vector<std::string> markers;
};

// Of a comment without its slashes, as protoc keeps it.
DocComment ReadDocComment(std::string_view comment);

// The text cut after a sentence within max bytes, else after a word with "...". No max: the whole
// text; 0: no text.
std::string CutDescription(std::string_view description, std::optional<size_t> max);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_DOC_COMMENT_H_
