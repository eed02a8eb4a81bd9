// Describes a difference between two servers to a person.
#pragma once

#include <cstddef>
#include <string>

namespace mandate::conformance::explore {

struct Difference {
  size_t step = 0;  // its index in the sequence
  std::string request;
  std::string real;  // Said::Answer, or the events of a stream
  std::string ours;

  // Equal for differences that probably have the same reason: it contains no names and no values.
  std::string Signature() const;
  // The lines and members that differ: `-` for the real server's, `+` for ours.
  std::string Explain() const;
};

// Whether two answers differ only in wording: both reject an unreadable request with the same code
// and reason, the real server with the messages of Go's libraries and the double with its own.
bool IsWording(const std::string& real, const std::string& ours);

// The code of an answer and, if its body is a Status, the reason and message.
std::string Gist(const std::string& answer);

}  // namespace mandate::conformance::explore
