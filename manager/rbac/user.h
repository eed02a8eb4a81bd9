// A user name with its groups, as authentication returns them.
//
// The authorizer adds no groups: a UserInfo needs the implicit ones, which the functions here add.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbac {

inline constexpr std::string_view kMastersGroup = "system:masters";
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr std::string_view kAnonymousUser = "system:anonymous";
inline constexpr std::string_view kServiceAccountsGroup = "system:serviceaccounts";
inline constexpr std::string_view kServiceAccountUserPrefix = "system:serviceaccount:";

struct UserInfo {
  std::string name;
  std::vector<std::string> groups;

  bool operator==(const UserInfo&) const = default;
};

struct ServiceAccountName {
  std::string ns;
  std::string name;

  bool operator==(const ServiceAccountName&) const = default;
};

// "system:serviceaccount:<ns>:<name>".
std::string ServiceAccountUser(std::string_view ns, std::string_view name);

// The user that a ServiceAccount's token authenticates, with its three implicit groups.
UserInfo ServiceAccountInfo(std::string_view ns, std::string_view name);

// A user with `groups` and system:authenticated, as any authenticated request has it.
UserInfo AuthenticatedInfo(std::string_view name, std::vector<std::string> groups = {});

// The user of a request without credentials, on a server that accepts such requests.
UserInfo AnonymousInfo();

// The ServiceAccount of a user name; nullopt when the name is not of that form.
std::optional<ServiceAccountName> ParseServiceAccountUser(std::string_view user);

// Whether `user` is the user name of that ServiceAccount. Allocates nothing.
constexpr bool IsServiceAccountUser(std::string_view user, std::string_view ns,
                                    std::string_view name) {
  if (!user.starts_with(kServiceAccountUserPrefix)) return false;
  user.remove_prefix(kServiceAccountUserPrefix.size());
  if (user.size() != ns.size() + 1 + name.size()) return false;
  return user.starts_with(ns) && user[ns.size()] == ':' && user.ends_with(name);
}

}  // namespace mandate::rbac
