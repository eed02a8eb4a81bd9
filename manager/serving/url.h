// The query of a URL.
#ifndef MANAGER_SERVING_URL_H_
#define MANAGER_SERVING_URL_H_

#include <map>
#include <string>
#include <string_view>

namespace mandate {

// "a=1&b=%2F&a=2" is {a: "1,2", b: "/"}; "verbose" is {verbose: ""}. Text with an invalid escape
// stays as it is.
std::map<std::string, std::string> ParseQuery(std::string_view query);

}  // namespace mandate

#endif  // MANAGER_SERVING_URL_H_
