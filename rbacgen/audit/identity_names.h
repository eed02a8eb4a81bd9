// Recognises the manager's identities by the names that they have in an audit log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mandate::rbacgen {

inline constexpr std::string_view kBaseComponent = "base";

// The component of a username: x for "system:serviceaccount:<ns>:<base_name>-x", base for
// "…:<base_name>". nullopt for any other user, also if only the namespace differs.
std::optional<std::string> ComponentOfUsername(std::string_view username, std::string_view ns,
                                               std::string_view base_name);
// The same for the name of a ServiceAccount in that namespace.
std::optional<std::string> ComponentOfAccount(std::string_view account, std::string_view base_name);

// The component of a user agent: x for "<prefix>1.0 (linux/amd64) x"; base if the suffix is
// missing, "base" or "leader-election". nullopt if the agent does not begin with the prefix.
std::optional<std::string> ComponentOfUserAgent(std::string_view user_agent,
                                                std::string_view prefix);

// A short form for tables: "ns/name" for "system:serviceaccount:ns:name".
std::string ShortUsername(std::string_view username);
// A short form for tables, without the "(linux/amd64)".
std::string ShortUserAgent(std::string_view user_agent);
// A short form for tables: the first eight characters of the UUID, without "JTI=".
std::string ShortCredentialId(std::string_view id);

}  // namespace mandate::rbacgen
