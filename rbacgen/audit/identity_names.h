// The names under which the manager's identities appear in an audit log.
#ifndef RBACGEN_AUDIT_IDENTITY_NAMES_H_
#define RBACGEN_AUDIT_IDENTITY_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

namespace mandate::rbacgen {

inline constexpr std::string_view kBaseComponent = "base";

// "system:serviceaccount:<ns>:<base_name>-x" is x, "…:<base_name>" is base; anything else is not
// ours, the accounts of these names in other namespaces neither.
std::optional<std::string> ComponentOfUsername(std::string_view username, std::string_view ns,
                                               std::string_view base_name);
// The same of a ServiceAccount's name in that namespace.
std::optional<std::string> ComponentOfAccount(std::string_view account, std::string_view base_name);

// "<prefix>1.0 (linux/amd64) x" is x; no suffix, "base" and "leader-election" are base. nullopt if
// the agent does not begin with the prefix.
std::optional<std::string> ComponentOfUserAgent(std::string_view user_agent,
                                                std::string_view prefix);

// For tables: "system:serviceaccount:ns:name" is "ns/name".
std::string ShortUsername(std::string_view username);
// For tables: without the "(linux/amd64)".
std::string ShortUserAgent(std::string_view user_agent);
// For tables: the first eight characters of a UUID, without "JTI=".
std::string ShortCredentialId(std::string_view id);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_AUDIT_IDENTITY_NAMES_H_
