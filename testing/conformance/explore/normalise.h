// Replaces values in which two servers may differ (uids, resourceVersions, times, tokens) by
// symbols.
#pragma once

#include <jsoncpp/json/json.h>

#include <map>
#include <string>
#include <string_view>

#include "testing/conformance/http.h"

namespace mandate::conformance::explore {

// The values that one server has returned during one sequence. A value; single-threaded.
class Said {
 public:
  // `ns` is the sequence's namespace.
  explicit Said(std::string ns) : ns_(std::move(ns)) {}

  // The text with this server's values instead of placeholders.
  std::string Fill(std::string_view text) const;

  // The answer as text: status code, the compared headers, and the body, with symbols instead of
  // the values that only this server has. Equal values get equal symbols, and different values
  // different ones. Learns the values of placeholders.
  std::string Answer(const Response& response);
  // The same for a watch event; learns no values.
  std::string Event(Json::Value event);

  // The greatest resourceVersion in any answer so far; "" before the first one.
  std::string newest() const { return newest_ == 0 ? "" : std::to_string(newest_); }

 private:
  void Learn(const Json::Value& object);
  void Normalise(Json::Value& value, std::string_view key, bool of_list);
  std::string Text(std::string text) const;
  std::string Symbol(const char* of, const std::string& value);

  std::string ns_;
  std::map<std::string, std::string> known_;    // "rv:a" → "17"
  std::map<std::string, std::string> symbols_;  // "rv 17" → "<rv 1>"
  std::map<std::string, int> counts_;           // of symbols, by the kind of value
  int64_t newest_ = 0;
};

}  // namespace mandate::conformance::explore
