// What two servers may say differently, made the same: uids, resourceVersions, times, tokens.
#ifndef TESTING_CONFORMANCE_EXPLORE_NORMALISE_H_
#define TESTING_CONFORMANCE_EXPLORE_NORMALISE_H_

#include <jsoncpp/json/json.h>

#include <map>
#include <string>
#include <string_view>

#include "testing/conformance/http.h"

namespace mandate::conformance::explore {

// What one server has said during one sequence. A value. For one thread.
class Said {
 public:
  // `ns` is the sequence's namespace.
  explicit Said(std::string ns) : ns_(std::move(ns)) {}

  // With this server's words instead of placeholders.
  std::string Fill(std::string_view text) const;

  // The answer as text: status code, the headers that count, the body with symbols instead of what
  // this server alone says. Equal objects get equal symbols, other objects other ones. Learns what
  // placeholders stand for.
  std::string Answer(const Response& response);
  // The same of a watch event.
  std::string Event(Json::Value event);

  // The greatest resourceVersion that was seen; "" before there is one.
  std::string newest() const { return newest_ == 0 ? "" : std::to_string(newest_); }

 private:
  void Learn(const Json::Value& object);
  void Normalise(Json::Value& value, std::string_view key, bool of_list);
  std::string Text(std::string text) const;
  std::string Symbol(const char* of, const std::string& value);

  std::string ns_;
  std::map<std::string, std::string> known_;    // "rv:a" → "17"
  std::map<std::string, std::string> symbols_;  // "rv 17" → "<rv 1>"
  std::map<std::string, int> counts_;           // of symbols, by what they stand for
  int64_t newest_ = 0;
};

}  // namespace mandate::conformance::explore

#endif  // TESTING_CONFORMANCE_EXPLORE_NORMALISE_H_
