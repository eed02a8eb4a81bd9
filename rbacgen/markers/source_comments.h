// Finds the comments of a source file that look like markers, in any language with // comments.
#ifndef RBACGEN_MARKERS_SOURCE_COMMENTS_H_
#define RBACGEN_MARKERS_SOURCE_COMMENTS_H_

#include <string_view>
#include <vector>

namespace mandate::rbacgen {

// Languages differ in the syntax that hides a "//": only strings and comments that may span lines
// matter.
enum class Language {
  kC,          // C, C++, Objective-C: R"x(…)x", digit separators
  kGo,         // `…`
  kRust,       // r#"…"#, lifetimes, nested block comments, strings over lines
  kScript,     // JavaScript, TypeScript: `…`
  kTextBlock,  // Java, Kotlin, Swift, Scala, C#, Dart: """…"""
  kPlain,      // anything else, protobuf among it
};

// By the file's suffix. kPlain if unknown.
Language LanguageOf(std::string_view path);
// Whether a folder's walk reads this file: its suffix is of a language with // comments.
bool IsSource(std::string_view path);

enum class CommentPlace {
  kOwnLine,    // only blanks before the slashes: the place of a valid marker; in Go, as for
               // controller-gen, also behind the brace that ends a function
  kDoc,        // own line, but with "///" or "//!"
  kAfterCode,  // code before it on the line
  kContinued,  // own line, right below a kOwnLine or kContinued one, without a "+"
};

struct PlusComment {
  int line;
  CommentPlace place;
  // The text after the slashes, without blanks around it; not empty. Borrows the source.
  std::string_view text;
};

// The // comments whose text begins with "+", and the lines that go on below them, outside block
// comments and string literals, in order.
std::vector<PlusComment> FindPlusComments(std::string_view source, Language language);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_SOURCE_COMMENTS_H_
