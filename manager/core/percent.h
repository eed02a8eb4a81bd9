// Percent coding of URLs (RFC 3986, section 2.1).
#ifndef MANAGER_CORE_PERCENT_H_
#define MANAGER_CORE_PERCENT_H_

#include <optional>
#include <string>
#include <string_view>

namespace mandate {

// nullopt: `text` has an invalid escape. `plus`: a plus is a space, as in a query.
std::optional<std::string> PercentDecode(std::string_view text, bool plus);

}  // namespace mandate

#endif  // MANAGER_CORE_PERCENT_H_
