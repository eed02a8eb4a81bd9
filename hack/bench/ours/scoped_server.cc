#include "hack/bench/ours/scoped_server.h"

#include <jsoncpp/json/json.h>

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::bench {
namespace {

absl::StatusOr<Json::Value> Ask(std::string_view path) {
  std::printf("ask %.*s\n", static_cast<int>(path.size()), path.data());
  std::fflush(stdout);
  std::string line;
  if (!std::getline(std::cin, line)) return absl::InternalError("the driver is gone");
  Json::Value answer;
  std::istringstream text(line);
  if (std::string errors;
      !Json::parseFromStream(Json::CharReaderBuilder(), text, &answer, &errors)) {
    return absl::InternalError(StrCat("the answer to ", path, " is not JSON: ", errors));
  }
  return answer;
}

}  // namespace

absl::Status TellServer(std::string_view path) { return Ask(path).status(); }

absl::StatusOr<ServerStats> AskServer() {
  ASSIGN_OR_RETURN(const Json::Value stats, Ask("stats"));
  const auto number = [&](const char* name) { return stats[name].asDouble(); };
  return ServerStats{.watches = number("watches"),
                     .lists = number("lists"),
                     .reviews = number("reviews"),
                     .requests = number("requests"),
                     .connections = number("connections"),
                     .open = number("open"),
                     .bookmarks = number("bookmarks"),
                     .bookmark_bytes = number("bookmark bytes"),
                     .sent = number("sent"),
                     .received = number("received"),
                     .closed = number("closed"),
                     .closed_in_one_second = number("closed in one second"),
                     .version = number("version")};
}

}  // namespace mandate::bench
