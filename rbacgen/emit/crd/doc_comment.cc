#include "rbacgen/emit/crd/doc_comment.h"

#include <algorithm>

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view TrimRight(std::string_view s) {
  const size_t last = s.find_last_not_of(kBlanks);
  return s.substr(0, last == s.npos ? 0 : last + 1);
}

std::string_view TrimLeft(std::string_view s) {
  s.remove_prefix(std::min(s.find_first_not_of(kBlanks), s.size()));
  return s;
}

// The longest prefix of at most `max` bytes that does not cut a UTF-8 character.
std::string_view Head(std::string_view text, size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && (text[max] & 0xC0) == 0x80) --max;
  return text.substr(0, max);
}

}  // namespace

DocComment ReadDocComment(std::string_view comment) {
  DocComment doc;
  bool blank_before = false;
  bool in_code = false;
  bool ended = false;
  while (!comment.empty()) {
    const size_t end = comment.find('\n');
    std::string_view line = TrimRight(comment.substr(0, end));
    comment.remove_prefix(end == comment.npos ? comment.size() : end + 1);
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (const std::string_view text = TrimLeft(line); text.starts_with('+')) {
      doc.markers.emplace_back(text.substr(1));
      continue;
    }
    if (line.starts_with("```") || line.starts_with("~~~")) in_code = !in_code;
    if (!in_code && line.starts_with("TODO")) continue;
    // Markers may follow text that is not documentation.
    if (!in_code && line.starts_with("---")) ended = true;
    if (ended) continue;
    if (line.empty()) {
      blank_before = true;
      continue;
    }
    if (!doc.description.empty()) doc.description += blank_before ? "\n\n" : "\n";
    doc.description += line;
    blank_before = false;
  }
  return doc;
}

std::string CutDescription(std::string_view description, std::optional<size_t> max) {
  if (!max.has_value() || description.size() <= *max) return std::string(description);
  if (*max == 0) return "";
  const std::string_view head = Head(description, *max);
  if (const size_t sentence = head.find_last_of(".?!"); sentence != head.npos && sentence > 0) {
    return std::string(head.substr(0, sentence + 1));
  }
  const size_t word = head.find_last_of(" \n\t");
  return std::string(head.substr(0, word == 0 ? head.npos : word)) + "...";
}

}  // namespace mandate::rbacgen
