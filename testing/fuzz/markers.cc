// Markers in any source: the declarations do not depend on the position of the file's lines, and
// they become mandates and a header, or errors with a position.
#include <algorithm>
#include <iterator>
#include <string>

#include "rbacgen/emit/header_writer.h"
#include "rbacgen/lint/lint.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/markers/source_comments.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using rbacgen::Diagnostics;
using rbacgen::Severity;
using rbacgen::Sources;

struct Reading {
  Sources sources;
  Diagnostics diagnostics;
};

Reading Read(const std::string& file, std::string_view text) {
  Reading reading;
  ReadDeclarations(file, text, Severity::kError, &reading.sources, &reading.diagnostics);
  return reading;
}

// The content of a declaration, without its place.
std::string Said(const rbacgen::Declaration& d) {
  return d.ns + "|" + d.role_name + "|" + (d.external ? "external" : "") + "|" + d.justification +
         "|" + d.component + "|" + d.arguments;
}

void CheckComments(const std::string& file, std::string_view text) {
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  int last = 0;
  for (const auto& comment : FindPlusComments(text, rbacgen::LanguageOf(file))) {
    Require(comment.line > last && comment.line <= lines, "comments come in order, one a line");
    last = comment.line;
    Require(!comment.text.empty() && comment.text.data() >= text.data() &&
                comment.text.data() + comment.text.size() <= text.data() + text.size(),
            "a comment's text is of the source");
    Require(comment.text.find('\n') == std::string_view::npos, "a comment is of one line");
  }
}

void Check(const std::string& file, std::string_view text) {
  CheckComments(file, text);
  const Reading reading = Read(file, text);
  const Reading shifted = Read(file, WithLinesAbove(text));
  Require(reading.sources.declarations.size() == shifted.sources.declarations.size() &&
              reading.diagnostics.errors() == shifted.diagnostics.errors(),
          "lines above change nothing", reading.diagnostics.Report(), shifted.diagnostics.Report());
  for (size_t i = 0; i < reading.sources.declarations.size(); ++i) {
    const auto& one = reading.sources.declarations[i];
    const auto& other = shifted.sources.declarations[i];
    Require(Said(one) == Said(other) && one.rule == other.rule, "lines above change no declaration",
            Said(one), Said(other));
    Require(one.place.line + 2 == other.place.line, "places move with the lines");
  }
  Diagnostics diagnostics = reading.diagnostics;
  CheckMandates(reading.sources, Severity::kError, &diagnostics);
  LintAll(reading.sources, Severity::kError, &diagnostics);
  if (diagnostics.errors() > 0) {
    Require(!diagnostics.Report().empty(), "errors are reported");
    return;
  }
  const auto mandates = BuildMandates(reading.sources);
  Require(mandates.size() == reading.sources.components.size(), "each component has a mandate");
  const auto header = WriteHeader(mandates);
  const auto again = WriteHeader(BuildMandates(shifted.sources));
  Require(header.ok() == again.ok() && (!header.ok() || *header == *again),
          "the same declarations are the same header");
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate::fuzz;
  if (size < 1 || size > 4000) return 0;
  // The first byte chooses the language.
  const char* const kFiles[] = {"a.cc", "a.go", "a.rs", "a.ts", "a.java", "a.proto"};
  const std::string file = kFiles[data[0] % std::size(kFiles)];
  Check(file, Text(data, size).substr(1));
  return 0;
}
