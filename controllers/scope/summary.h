// Many texts in one message.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mandate::scope {

// Counts texts, and keeps only those that it shows, so that its size does not depend on their
// number. Not thread-safe.
class Summary {
 public:
  void Add(std::string text);
  // Of all texts.
  size_t size() const { return size_; }
  // The first ten texts, and how many others there are: "a; b; and 3 more".
  std::string Text() const;

 private:
  std::vector<std::string> shown_;
  size_t size_ = 0;
};

// The same of a list.
std::string Summarise(const std::vector<std::string>& texts);

}  // namespace mandate::scope
