// Mistakes in the input, collected over a run and reported in the order of the source.
#pragma once

#include <compare>
#include <set>
#include <string>

namespace mandate::rbacgen {

// A line of an input file; the file is named as the user named it. Line 0 is the whole file.
struct Place {
  std::string file;
  int line = 0;

  auto operator<=>(const Place&) const = default;
  std::string ToString() const;
};

enum class Severity { kError, kWarning };

// Not thread-safe.
class Diagnostics {
 public:
  void Add(Severity severity, Place place, std::string text);
  void Error(Place place, std::string text) {
    Add(Severity::kError, std::move(place), std::move(text));
  }
  void Warning(Place place, std::string text) {
    Add(Severity::kWarning, std::move(place), std::move(text));
  }
  // An error: the file cannot be read, so the answer is unknown.
  void Unreadable(Place place, std::string text);

  // Adds the entries of `more`.
  void Merge(Diagnostics more);

  struct Entry {
    Place place;
    Severity severity;
    std::string text;

    auto operator<=>(const Entry&) const = default;
  };
  // Sorted by file, line and text, without duplicates.
  const std::set<Entry>& entries() const { return entries_; }
  int errors() const { return errors_; }
  // Whether an input could not be read.
  bool unreadable() const { return unreadable_; }
  // "file:line: error: text" lines, sorted by file, line and text, without duplicates. Control
  // characters are escaped.
  std::string Report() const;

 private:
  std::set<Entry> entries_;
  int errors_ = 0;
  bool unreadable_ = false;
};

}  // namespace mandate::rbacgen
