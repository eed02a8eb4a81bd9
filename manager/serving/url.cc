#include "manager/serving/url.h"

#include "manager/core/percent.h"

namespace mandate {
namespace {

std::string Decoded(std::string_view text) {
  return PercentDecode(text, /*plus=*/true).value_or(std::string(text));
}

}  // namespace

std::map<std::string, std::string> ParseQuery(std::string_view query) {
  std::map<std::string, std::string> result;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() < query.size() ? pair.size() + 1 : pair.size());
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::string value =
        equals == std::string_view::npos ? "" : Decoded(pair.substr(equals + 1));
    auto [it, inserted] = result.try_emplace(Decoded(pair.substr(0, equals)), value);
    if (!inserted) it->second += "," + value;
  }
  return result;
}

}  // namespace mandate
