// Percent coding of URLs (RFC 3986, section 2.1), and queries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mandate {

// Returns nullopt if `text` has an invalid escape. If `plus`, a plus is a space, as in a query.
std::optional<std::string> PercentDecode(std::string_view text, bool plus);

// The parameters of a URL's query, decoded, in their order: "a=1&b" has {"a", "1"} and {"b", ""}.
// Those with an invalid escape or a semicolon are skipped, as by Go's url.Query().
std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query);

}  // namespace mandate
