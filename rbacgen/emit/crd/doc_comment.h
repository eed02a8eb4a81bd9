// Reads the comment above a declaration as documentation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbacgen {

struct DocComment {
  // Like controller-gen v0.23: keeps lines; blank lines separate paragraphs. Omits markers, lines
  // that begin with TODO, and everything from a line that begins with "---" on.
  std::string description;
  // The marker lines, without their "+".
  std::vector<std::string> markers;
};

// Reads a comment without its slashes, as protoc keeps it.
DocComment ReadDocComment(std::string_view comment);

// The text, cut to at most `max` bytes: after a sentence, or else after a word, with "...". The
// whole text if `max` is not set; no text if it is 0.
std::string CutDescription(std::string_view description, std::optional<size_t> max);

}  // namespace mandate::rbacgen
