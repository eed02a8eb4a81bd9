// The release that this is.
#ifndef CMD_MANDATE_MANAGER_VERSION_H_
#define CMD_MANDATE_MANAGER_VERSION_H_

namespace mandate {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace mandate

#endif  // CMD_MANDATE_MANAGER_VERSION_H_
