#include "rbacgen/markers/diagnostics.h"

#include <utility>

#include "manager/core/printable.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {

std::string Place::ToString() const { return line > 0 ? StrCat(file, ":", line) : file; }

void Diagnostics::Add(Severity severity, Place place, std::string text) {
  const bool added = entries_.insert({std::move(place), severity, std::move(text)}).second;
  if (added && severity == Severity::kError) ++errors_;
}

void Diagnostics::Unreadable(Place place, std::string text) {
  Error(std::move(place), std::move(text));
  unreadable_ = true;
}

void Diagnostics::Merge(Diagnostics more) {
  entries_.merge(more.entries_);
  errors_ += more.errors_;
  unreadable_ |= more.unreadable_;
  // Entries that both sides have are counted only once.
  for (const Entry& both : more.entries_) errors_ -= both.severity == Severity::kError;
}

std::string Diagnostics::Report() const {
  std::string report;
  for (const Entry& e : entries_) {
    StrAppend(&report, Printable(e.place.ToString()), ": ",
              e.severity == Severity::kError ? "error" : "warning", ": ", Printable(e.text), "\n");
  }
  return report;
}

}  // namespace mandate::rbacgen
