#include <algorithm>

#include "testing/rbac_fidelity/questions.h"

namespace mandate::fidelity {
namespace {

using rbac::Attributes;
using rbac::Grant;
using rbac::UserInfo;

constexpr std::string_view kNamespaced = "in a namespace";
constexpr std::string_view kClusterScope = "at cluster scope";
constexpr std::string_view kPath = "path";
constexpr std::string_view kNamed = "with a name";
constexpr std::string_view kSubresource = "subresource";
constexpr std::string_view kNamespaceObject = "namespace object in itself";
constexpr std::string_view kServiceAccount = "ServiceAccount";
constexpr std::string_view kMasters = "system:masters";
constexpr std::string_view kAnonymous = "anonymous";
constexpr std::string_view kSelector = "field selector to be ignored";
constexpr std::string_view kDangling = "dangling role reference met";
constexpr std::string_view kByRole = "granted by a Role";
constexpr std::string_view kByLocalClusterRole = "granted by a ClusterRole in a namespace";
constexpr std::string_view kByClusterBinding = "granted by a ClusterRoleBinding";
constexpr std::string_view kByGroup = "granted to a group";
constexpr std::string_view kByServiceAccount = "granted to a ServiceAccount";
constexpr std::string_view kByImplicitNs = "granted to one without namespace";
constexpr std::string_view kByUserLikeSa = "granted to a User named like one";
constexpr std::string_view kByNames = "granted by resourceNames";
constexpr std::string_view kByStar = "granted by resource *";
constexpr std::string_view kByStarSub = "granted by */subresource";
constexpr std::string_view kByAggregated = "granted by an aggregated role";
constexpr std::string_view kByUrlPrefix = "granted by a path prefix";
constexpr std::string_view kByUrl = "granted by the path itself";
constexpr std::string_view kByAnyUrl = "granted by path *";
constexpr std::string_view kByAnyVerb = "granted by verb *";
constexpr std::string_view kByAnyGroup = "granted by API group *";
constexpr std::string_view kByResource = "granted by the resource itself";
constexpr std::string_view kByResourceSub = "granted by resource/subresource";
constexpr std::string_view kByAccountGroup = "granted to a namespace's ServiceAccounts";
constexpr std::string_view kByOwnAggregate = "granted by a role aggregated from these";

bool Has(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

void AddGrant(const Grant& grant, const Attributes& request,
              std::vector<std::string_view>& features) {
  const auto add = [&](std::string_view feature, bool there) {
    if (there && std::find(features.begin(), features.end(), feature) == features.end()) {
      features.push_back(feature);
    }
  };
  const rbac::Subject& subject = grant.subject;
  add(kByRole, grant.role_ref.kind == "Role");
  add(kByLocalClusterRole, grant.role_ref.kind == "ClusterRole" && !grant.ns.empty());
  add(kByClusterBinding, grant.ns.empty());
  add(kByGroup, subject.kind == "Group");
  add(kByServiceAccount, subject.kind == "ServiceAccount");
  add(kByImplicitNs, subject.kind == "ServiceAccount" && subject.ns.empty());
  add(kByUserLikeSa,
      subject.kind == "User" && subject.name.starts_with(rbac::kServiceAccountUserPrefix));
  add(kByAggregated, grant.role_ref.name == kAggregatedRole);
  add(kByOwnAggregate, grant.role_ref.name.ends_with(kAggregateSuffix));
  add(kByAccountGroup,
      subject.kind == "Group" && subject.name.starts_with(rbac::kServiceAccountsGroup));
  add(kByAnyVerb, Has(grant.rule.verbs, "*"));
  if (!request.is_resource_request) {
    add(kByUrl, Has(grant.rule.non_resource_urls, request.path));
    add(kByAnyUrl, Has(grant.rule.non_resource_urls, "*"));
    add(kByUrlPrefix, !Has(grant.rule.non_resource_urls, request.path));
    return;
  }
  add(kByAnyGroup, Has(grant.rule.api_groups, "*"));
  add(kByResource, request.subresource.empty() && Has(grant.rule.resources, request.resource));
  add(kByResourceSub, !request.subresource.empty() &&
                          Has(grant.rule.resources, request.resource + "/" + request.subresource));
  add(kByNames, !grant.rule.resource_names.empty());
  add(kByStar, Has(grant.rule.resources, "*"));
  add(kByStarSub,
      !request.subresource.empty() && Has(grant.rule.resources, "*/" + request.subresource));
}

}  // namespace

const std::vector<std::string_view>& AllFeatures() {
  static const auto& all = *new std::vector<std::string_view>{
      kNamespaced,         kClusterScope,     kPath,           kNamed,
      kSubresource,        kNamespaceObject,  kServiceAccount, kMasters,
      kAnonymous,          kSelector,         kDangling,       kByRole,
      kByLocalClusterRole, kByClusterBinding, kByGroup,        kByServiceAccount,
      kByImplicitNs,       kByUserLikeSa,     kByNames,        kByStar,
      kByStarSub,          kByAggregated,     kByUrlPrefix,    kByUrl,
      kByAnyUrl,           kByAnyVerb,        kByAnyGroup,     kByResource,
      kByResourceSub,      kByAccountGroup,   kByOwnAggregate};
  return all;
}

std::vector<std::string_view> FeaturesOf(const rbac::Authorizer& authorizer,
                                         const Question& question) {
  std::vector<std::string_view> features;
  const auto add = [&](std::string_view feature, bool there) {
    if (there) features.push_back(feature);
  };
  const Attributes& request = question.request;
  const UserInfo& user = question.user;
  const bool resource = request.is_resource_request;
  add(kPath, !resource);
  add(kNamespaced, resource && !request.ns.empty());
  add(kClusterScope, resource && request.ns.empty());
  add(kNamed, !request.name.empty());
  add(kSubresource, !request.subresource.empty());
  add(kNamespaceObject,
      request.resource == "namespaces" && !request.ns.empty() && request.ns == request.name);
  add(kServiceAccount, Has(user.groups, rbac::kServiceAccountsGroup));
  add(kAnonymous, user.name == rbac::kAnonymousUser);
  add(kSelector, !question.field_selector.empty());
  const bool masters = Has(user.groups, rbac::kMastersGroup);
  add(kMasters, masters);
  if (masters) return features;
  const auto errors = authorizer.VisitRules(user, request.ns, [&](const Grant& grant) {
    if (rbac::RuleAllows(grant.rule, request)) AddGrant(grant, request, features);
    return true;
  });
  add(kDangling, !errors.empty());
  return features;
}

}  // namespace mandate::fidelity
