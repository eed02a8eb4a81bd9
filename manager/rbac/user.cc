#include "manager/rbac/user.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"

namespace mandate::rbac {

std::string ServiceAccountUser(std::string_view ns, std::string_view name) {
  return StrCat(kServiceAccountUserPrefix, ns, ":", name);
}

UserInfo ServiceAccountInfo(std::string_view ns, std::string_view name) {
  return {.name = ServiceAccountUser(ns, name),
          .groups = {std::string(kServiceAccountsGroup), StrCat(kServiceAccountsGroup, ":", ns),
                     std::string(kAuthenticatedGroup)}};
}

UserInfo AuthenticatedInfo(std::string_view name, std::vector<std::string> groups) {
  if (std::find(groups.begin(), groups.end(), kAuthenticatedGroup) == groups.end()) {
    groups.emplace_back(kAuthenticatedGroup);
  }
  return {.name = std::string(name), .groups = std::move(groups)};
}

UserInfo AnonymousInfo() {
  return {.name = std::string(kAnonymousUser), .groups = {std::string(kUnauthenticatedGroup)}};
}

std::optional<ServiceAccountName> ParseServiceAccountUser(std::string_view user) {
  if (!user.starts_with(kServiceAccountUserPrefix)) return std::nullopt;
  user.remove_prefix(kServiceAccountUserPrefix.size());
  const size_t colon = user.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view ns = user.substr(0, colon);
  const std::string_view name = user.substr(colon + 1);
  if (ns.empty() || name.empty() || name.find(':') != std::string_view::npos) return std::nullopt;
  return ServiceAccountName{.ns = std::string(ns), .name = std::string(name)};
}

}  // namespace mandate::rbac
