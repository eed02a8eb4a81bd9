// The user agent of requests: "mandate-manager/1.0.0 (linux/amd64) scope-instance".
#ifndef MANAGER_IDENTITY_USER_AGENT_H_
#define MANAGER_IDENTITY_USER_AGENT_H_

#include <string>
#include <string_view>

#include "manager/core/strings.h"

namespace mandate {

// `component` is empty for base. The system and the processor have Go's names, as in other user
// agents of an audit log.
inline std::string UserAgent(std::string_view version, std::string_view component) {
#if defined(__x86_64__)
  constexpr std::string_view kArch = "amd64";
#elif defined(__aarch64__)
  constexpr std::string_view kArch = "arm64";
#else
#error "name this processor as Go does (GOARCH)"
#endif
  std::string agent = StrCat("mandate-manager/", version, " (linux/", kArch, ")");
  if (!component.empty()) StrAppend(&agent, " ", component);
  return agent;
}

}  // namespace mandate

#endif  // MANAGER_IDENTITY_USER_AGENT_H_
