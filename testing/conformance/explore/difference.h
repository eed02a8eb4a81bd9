// Where two servers part, for a person.
#ifndef TESTING_CONFORMANCE_EXPLORE_DIFFERENCE_H_
#define TESTING_CONFORMANCE_EXPLORE_DIFFERENCE_H_

#include <cstddef>
#include <string>

namespace mandate::conformance::explore {

struct Difference {
  size_t step = 0;  // of the sequence, from 0
  std::string request;
  std::string real;  // Said::Answer, or the events of a stream
  std::string ours;

  // The same for differences that are likely to have one reason: no names, no values.
  std::string Signature() const;
  // The lines and members that are not the same, `-` the real server's and `+` ours.
  std::string Explain() const;
};

// Whether two answers refuse with the same code and reason what cannot be read, which the real
// server tells in the words of Go's libraries and the double in its own.
bool IsWording(const std::string& real, const std::string& ours);

// The code of an answer, and of a Status its reason and message.
std::string Gist(const std::string& answer);

}  // namespace mandate::conformance::explore

#endif  // TESTING_CONFORMANCE_EXPLORE_DIFFERENCE_H_
