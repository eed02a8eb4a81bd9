// The manifests of missing identities, as text for error messages.
#ifndef MANAGER_IDENTITY_MANIFESTS_H_
#define MANAGER_IDENTITY_MANIFESTS_H_

#include <string>
#include <string_view>

namespace mandate {

// YAML of one or more objects, ready for `kubectl apply -f -`; ends with a newline.
std::string ServiceAccountManifest(std::string_view ns, std::string_view name);
std::string SecretManifest(std::string_view ns, std::string_view name);
// The Role and RoleBinding with which `minter`, a ServiceAccount of `ns`, may mint tokens of
// `name`.
std::string MintingManifest(std::string_view ns, std::string_view minter, std::string_view name);

}  // namespace mandate

#endif  // MANAGER_IDENTITY_MANIFESTS_H_
