#include "manager/client/served_by.h"

#include <algorithm>
#include <iterator>

namespace mandate {
namespace {

constexpr std::string_view kGroups = "/apis/";
constexpr std::string_view kSuffix = ".k8s.io";

// The groups with ".k8s.io" that k8s.io/api has. Others, such as metrics.k8s.io, belong to
// extensions.
constexpr std::string_view kBuiltIn[] = {"admissionregistration",
                                         "apiextensions",
                                         "apiregistration",
                                         "authentication",
                                         "authorization",
                                         "certificates",
                                         "coordination",
                                         "discovery",
                                         "events",
                                         "flowcontrol.apiserver",
                                         "networking",
                                         "node",
                                         "rbac.authorization",
                                         "resource",
                                         "scheduling",
                                         "storage"};

}  // namespace

bool IsServedByApiServer(std::string_view target) {
  if (!target.starts_with(kGroups)) return true;
  std::string_view group = target.substr(kGroups.size());
  group = group.substr(0, group.find_first_of("/?"));
  // "apps", "batch": Kubernetes' own groups; an extension's group has a domain.
  if (group.find('.') == std::string_view::npos) return true;
  if (!group.ends_with(kSuffix)) return false;
  group.remove_suffix(kSuffix.size());
  return std::ranges::find(kBuiltIn, group) != std::end(kBuiltIn);
}

}  // namespace mandate
