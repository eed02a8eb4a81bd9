// Finds the comments of a source file that look like markers, in any language with // comments.
#pragma once

#include <string_view>
#include <vector>

namespace mandate::rbacgen {

// Languages differ in the syntax that can hide a "//". Only strings and comments that may span
// lines matter.
enum class Language {
  kC,          // C, C++, Objective-C: R"x(…)x", digit separators
  kGo,         // `…`
  kRust,       // r#"…"#, lifetimes, nested block comments, strings over lines
  kScript,     // JavaScript, TypeScript: `…`
  kTextBlock,  // Java, Kotlin, Swift, Scala, C#, Dart: """…"""
  kPlain,      // anything else, including protobuf
};

// The language of a file's suffix; kPlain if it is unknown.
Language LanguageOf(std::string_view path);
// Whether walking a folder reads this file: its suffix belongs to a language with // comments.
bool IsSource(std::string_view path);

enum class CommentPlace {
  // Only blanks before the slashes: the place of a valid marker; in Go, as for controller-gen, also
  // after the brace that ends a function.
  kOwnLine,
  kDoc,        // on its own line, but with "///" or "//!"
  kAfterCode,  // after code on the same line
  kContinued,  // on its own line directly below a kOwnLine or kContinued comment, without a "+"
};

struct PlusComment {
  int line;
  CommentPlace place;
  // The text after the slashes, without blanks around it; not empty. Borrows the source.
  std::string_view text;
};

// The // comments whose text begins with "+", and the comment lines that continue them, in order.
// Block comments and string literals are skipped.
std::vector<PlusComment> FindPlusComments(std::string_view source, Language language);

}  // namespace mandate::rbacgen
