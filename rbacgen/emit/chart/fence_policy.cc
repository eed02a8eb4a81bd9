#include "rbacgen/emit/chart/fence_policy.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"
#include "rbacgen/emit/chart/admission_policy.h"
#include "rbacgen/emit/chart/fields_cel.h"
#include "rbacgen/emit/chart/pattern_cel.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

// A delete has no new object, and a create no old one.
constexpr char kObjects[] =
    "request.operation == \"CREATE\" ? [object] : "
    "request.operation == \"DELETE\" ? [oldObject] : [object, oldObject]";
constexpr char kOldLabels[] =
    "request.operation == \"UPDATE\" ? oldObject.metadata.?labels.orValue({}) : {}";
constexpr char kLabels[] =
    "request.operation == \"DELETE\" ? {} : object.metadata.?labels.orValue({})";
constexpr char kNewLabels[] =
    "variables.labels.filter(k, !(k in variables.oldLabels) || "
    "variables.oldLabels[k] != variables.labels[k])";
constexpr char kNewFinalizers[] =
    "request.operation == \"DELETE\" ? [] : object.metadata.?finalizers.orValue([])"
    ".filter(f, request.operation == \"CREATE\" || "
    "!(f in oldObject.metadata.?finalizers.orValue([])))";
constexpr char kSameOwners[] =
    "oldObject.metadata.?ownerReferences.orValue([]) == "
    "object.metadata.?ownerReferences.orValue([])";
constexpr char kSameController[] =
    "request.operation != \"UPDATE\" || oldObject.metadata.?ownerReferences.orValue([])"
    ".all(r, !r.?controller.orValue(false) || object.metadata.?ownerReferences.orValue([])"
    ".exists(n, n.uid == r.uid && n.?controller.orValue(false)))";
constexpr char kSameAggregation[] =
    "request.operation == \"DELETE\" || !has(object.aggregationRule) || "
    "(request.operation == \"UPDATE\" && has(oldObject.aggregationRule) && "
    "object.aggregationRule == oldObject.aggregationRule)";

std::string ControllerIs(std::string_view owner) {
  const size_t slash = owner.rfind('/');
  const std::string_view group = owner.substr(0, slash);
  const std::string version =
      group == "core" ? std::string("r.apiVersion == \"v1\"")
                      : StrCat("r.apiVersion.startsWith(", CelLiteral(StrCat(group, "/")), ")");
  return StrCat("r.kind == ", CelLiteral(owner.substr(slash + 1)), " && ", version);
}

std::string Controllers(std::string_view and_also) {
  return StrCat("o.metadata.?ownerReferences.orValue([]).exists(r, r.?controller.orValue(false)",
                and_also.empty() ? "" : " && ", and_also, ")");
}

std::string HasLabel(std::string_view label) {
  const size_t equals = label.find('=');
  const std::string key = CelLiteral(label.substr(0, equals));
  const std::string there = StrCat(key, " in o.metadata.?labels.orValue({})");
  if (equals == label.npos) return there;
  return StrCat(there, " && o.metadata.labels[", key,
                "] == ", CelLiteral(label.substr(equals + 1)));
}

// Whether `o` is the component's own.
std::string IsMine(const Fence& fence) {
  if (fence.owner.empty()) return HasLabel(fence.label);
  const std::string has_owner = Controllers(ControllerIs(fence.owner));
  if (fence.label.empty()) return has_owner;
  return StrCat(Controllers(""), " ? ", has_owner, " : ", HasLabel(fence.label));
}

// The same in words, for error messages.
std::string MineInWords(const Fence& fence) {
  if (fence.owner.empty()) return StrCat("have the label ", fence.label);
  return StrCat(
      "have a controller of kind ", fence.owner,
      fence.label.empty() ? "" : StrCat(", or no controller and the label ", fence.label));
}

FenceCheck Mine(const Fence& fence, std::string_view subject) {
  return {StrCat("variables.objects.all(o, ", IsMine(fence), ")"),
          StrCat(subject, " may only write objects that ", MineInWords(fence))};
}

// Whether the subject is the requester, or one of its groups.
constexpr char kSelf[] =
    "s.kind == \"ServiceAccount\" ? \"system:serviceaccount:\" + "
    "s.?namespace.orValue(object.metadata.?namespace.orValue(\"\")) + \":\" + s.name == "
    "request.userInfo.username : s.kind == \"Group\" ? s.name in request.userInfo.groups : "
    "s.name == request.userInfo.username";
// Whether the subject is a ServiceAccount of the requester's namespace, or one of the requester's
// groups.
constexpr char kManager[] =
    "s.kind == \"ServiceAccount\" ? s.?namespace.orValue(object.metadata.?namespace.orValue(\"\")) "
    "== request.userInfo.username.split(\":\")[2] : s.kind == \"Group\" ? s.name in "
    "request.userInfo.groups : s.name.startsWith(\"system:serviceaccount:\" + "
    "request.userInfo.username.split(\":\")[2] + \":\")";

// Whether the subject is a user without a credential.
constexpr char kAnonymous[] =
    "s.kind == \"User\" && s.name == \"system:anonymous\" || "
    "s.kind == \"Group\" && s.name == \"system:unauthenticated\"";

// Whether the subject is the requester or base. Used if ScopeInstances grant the external rules, so
// that other components may be bound. Base's name has the same prefix and suffix as the
// component's.
std::string SelfOrBase(std::string_view component, std::string_view base_name) {
  const std::string base =
      StrCat("request.userInfo.username.split(\":\")[3].replace(",
             CelLiteral(StrCat(base_name, "-", component)), ", ", CelLiteral(base_name), ")");
  return StrCat("(", kSelf,
                ") || (s.kind == \"ServiceAccount\" ? "
                "s.?namespace.orValue(object.metadata.?namespace.orValue(\"\")) == "
                "request.userInfo.username.split(\":\")[2] && s.name == ",
                base,
                " : s.name == \"system:serviceaccount:\" + "
                "request.userInfo.username.split(\":\")[2] + \":\" + ",
                base, ")");
}

FenceCheck NeverSubject(std::string_view who, const char* words, std::string_view subject) {
  return {StrCat("request.operation == \"DELETE\" || !object.?subjects.orValue([]).exists(s, ",
                 "!(request.operation == \"UPDATE\" && s in oldObject.?subjects.orValue([])) && (",
                 who, "))"),
          StrCat(subject, " may never bind a role to ", words)};
}

std::string Listed(const Strings& patterns) { return absl::StrJoin(patterns, ", "); }

void AddWhatIsNeverAComponents(const Fence& fence, std::string_view subject,
                               std::vector<FenceCheck>& checks) {
  checks.push_back(
      {kSameController, StrCat(subject, " may never take an object away from its controller")});
  const std::string allowed =
      fence.finalizers.empty() ? "false" : PatternsCel(fence.finalizers, "f");
  checks.push_back({StrCat("variables.newFinalizers.all(f, ", allowed, ")"),
                    fence.finalizers.empty()
                        ? StrCat(subject, " may never add finalizers")
                        : StrCat(subject, " may only add finalizers of the pattern ",
                                 Listed(fence.finalizers))});
  const bool cluster_roles = std::ranges::any_of(fence.resources, [](const std::string& resource) {
    return resource == "clusterroles" || resource == "*";
  });
  if (cluster_roles && std::ranges::any_of(fence.groups, [](const std::string& group) {
        return group == "rbac.authorization.k8s.io" || group == "*";
      })) {
    checks.push_back({kSameAggregation, StrCat(subject, " may never set an aggregationRule")});
  }
}

// The resources and all their subresources. The API server rejects repeated entries.
Strings WithSubresources(const Strings& resources) {
  Strings all;
  for (const std::string& resource : resources) {
    const size_t slash = resource.find('/');
    if (slash == resource.npos) {
      all.push_back(resource);
      all.push_back(resource + "/*");
    } else if (std::ranges::find(resources, resource.substr(0, slash)) == resources.end()) {
      all.push_back(resource);
    }
  }
  if (std::ranges::find(all, "*/*") != all.end()) return {"*/*"};
  return all;
}

// Whether Fence::names has a pattern that includes names, so that these names are reserved for the
// component.
bool ReservesNames(const Fence& fence) {
  return std::ranges::any_of(fence.names,
                             [](const std::string& name) { return !name.starts_with('!'); });
}

// Whether a write by another user concerns the component's objects.
std::string GuardCondition(const Fence& fence) {
  const std::string was_its_own = StrCat("[oldObject].all(o, ", IsMine(fence), ")");
  if (!ReservesNames(fence)) return was_its_own;
  return StrCat("request.operation == \"CREATE\" ? (",
                PatternsCel(fence.names, "object.metadata.name"), ") : ", was_its_own);
}

Fence Expanded(Fence fence, const std::string& base_name) {
  for (Strings* patterns :
       {&fence.names, &fence.labels, &fence.never_labels, &fence.finalizers, &fence.role_refs}) {
    for (std::string& pattern : *patterns) {
      pattern = absl::StrReplaceAll(pattern, {{AsAbsl(kBaseNameWord), base_name}});
    }
  }
  return fence;
}

std::string IdOf(const Fence& fence) {
  if (!fence.id.empty()) return fence.id;
  return absl::StrReplaceAll(absl::StrJoin(fence.resources, "-"), {{"/", "-"}, {"*", "all"}});
}

Yaml::List Variables() {
  Yaml::List variables;
  for (auto& [name, expression] : FenceVariables()) {
    variables.push_back(Yaml::Map{{"name", name}, {"expression", expression}});
  }
  return variables;
}

Yaml::Condition HasFences(const ChartSwitches& switches) {
  return switches.Fences() && !switches.SingleMode();
}

}  // namespace

std::vector<FenceCheck> FenceChecks(const Fence& fence, std::string_view component,
                                    std::string_view base_name) {
  const std::string subject = StrCat("component ", component);
  std::vector<FenceCheck> checks;
  if (!fence.owner.empty() || !fence.label.empty()) checks.push_back(Mine(fence, subject));
  if (!fence.names.empty()) {
    checks.push_back({StrCat("request.operation != \"CREATE\" || (",
                             PatternsCel(fence.names, "object.metadata.name"), ")"),
                      StrCat(subject, " may only create objects with names of the pattern ",
                             Listed(fence.names))});
  }
  if (!fence.labels.empty()) {
    checks.push_back(
        {StrCat("variables.newLabels.all(k, ", PatternsCel(fence.labels, "k"), ")"),
         StrCat(subject, " may only set labels of the pattern ", Listed(fence.labels))});
  }
  if (!fence.never_labels.empty()) {
    checks.push_back(
        {StrCat("!variables.newLabels.exists(k, ", PatternsCel(fence.never_labels, "k"), ")"),
         StrCat(subject, " may never set labels of the pattern ", Listed(fence.never_labels))});
  }
  if (!fence.fields.empty()) {
    checks.push_back(
        {StrCat("request.operation != \"UPDATE\" || (", OnlyFieldsChangedCel(fence.fields), ")"),
         StrCat(subject, " may only change the fields ", Listed(fence.fields))});
  }
  if (!fence.role_refs.empty()) {
    checks.push_back(
        {StrCat("request.operation == \"DELETE\" || (", RoleRefsCel(fence.role_refs), ")"),
         StrCat(subject, " may only bind roles of the pattern ", Listed(fence.role_refs))});
  }
  if (fence.never_manager) {
    checks.push_back(NeverSubject(kManager, "the manager's own ServiceAccounts", subject));
    checks.back().external_grants = false;
    checks.push_back(NeverSubject(SelfOrBase(component, base_name), "itself or base", subject));
    checks.back().external_grants = true;
  } else if (fence.never_self) {
    checks.push_back(NeverSubject(kSelf, "itself", subject));
  }
  if (fence.never_anonymous) {
    checks.push_back(NeverSubject(kAnonymous, "anonymous users", subject));
  }
  AddWhatIsNeverAComponents(fence, subject, checks);
  return checks;
}

std::vector<std::pair<std::string, std::string>> FenceVariables() {
  return {{"objects", kObjects},
          {"oldLabels", kOldLabels},
          {"labels", kLabels},
          {"newLabels", kNewLabels},
          {"newFinalizers", kNewFinalizers}};
}

std::vector<FenceCheck> GuardChecks(const Fence& fence) {
  const size_t slash = fence.guard.find('/');
  const std::string resource = fence.guard.substr(slash + 1);
  const std::string may =
      StrCat("authorizer.group(", CelLiteral(fence.guard.substr(0, slash)), ").resource(",
             CelLiteral(resource), ").subresource(\"finalizers\").check(\"update\").allowed()");
  const auto check = [&](std::string_view unless, std::string_view what) {
    return FenceCheck{StrCat("(", unless, ") || ", may),
                      StrCat("only a user that may update ", resource, "/finalizers may ", what)};
  };
  // For a create, the policy checks only the name. An object with another name does not belong to
  // the component, whatever its labels are.
  const auto update = [&](std::string_view unchanged, const std::string& what) {
    const std::string_view made = ReservesNames(fence) ? "request.operation == \"CREATE\" || " : "";
    return check(StrCat(made, unchanged), StrCat(what, "; to recreate the object, delete it"));
  };
  std::vector<FenceCheck> checks;
  if (ReservesNames(fence)) {
    checks.push_back(
        check("request.operation != \"CREATE\"",
              StrCat("create objects with names of the pattern ", Listed(fence.names))));
  }
  checks.push_back(update(kSameOwners, "change the owners of this object"));
  if (!fence.labels.empty()) {
    checks.push_back(update(StrCat("variables.newLabels.all(k, !(", PatternsCel(fence.labels, "k"),
                                   ")) && variables.oldLabels.all(k, k in variables.labels || !(",
                                   PatternsCel(fence.labels, "k"), "))"),
                            StrCat("change its labels of the pattern ", Listed(fence.labels))));
  }
  checks.push_back(update("variables.newFinalizers.size() == 0", "add finalizers to it"));
  return checks;
}

void AddGuardPolicy(ObjectMaker& maker, const Fence& marked) {
  if (marked.guard.empty()) return;
  const Fence fence = Expanded(marked, maker.names().base);
  Yaml::List validations;
  for (const FenceCheck& check : GuardChecks(fence)) {
    validations.push_back(Validation(check.expression, check.message));
  }
  AddAdmissionPolicy(
      maker,
      {.id = IdOf(fence) + "-guard",
       .matches = "is-the-components",
       .condition = GuardCondition(fence),
       .groups = fence.groups,
       .operations = ReservesNames(fence) ? Strings{"CREATE", "UPDATE"} : Strings{"UPDATE"},
       .resources = fence.resources,
       .variables = Variables(),
       .validations = std::move(validations)},
      HasFences(maker.switches()));
}

void AddFencePolicy(ObjectMaker& maker, const Fence& marked) {
  const ChartSwitches& switches = maker.switches();
  const Fence fence = Expanded(marked, maker.names().base);
  Strings operations;
  for (const std::string& verb : fence.verbs) {
    std::string& upper = operations.emplace_back();
    for (const unsigned char c : verb) upper += static_cast<char>(std::toupper(c));
  }
  Yaml::List validations;
  for (const FenceCheck& check : FenceChecks(fence, maker.component(), maker.names().base)) {
    Yaml validation = Validation(check.expression, check.message);
    const Yaml::Condition external = switches.ExternalAsScopeTemplate();
    if (check.external_grants.has_value()) {
      validation = Yaml::If(*check.external_grants ? external : !external, std::move(validation));
    }
    validations.push_back(std::move(validation));
  }
  AddAdmissionPolicy(maker,
                     {.id = IdOf(fence),
                      .matches = "is-the-component",
                      .condition = {},
                      .groups = fence.groups,
                      .operations = std::move(operations),
                      .resources = WithSubresources(fence.resources),
                      .variables = Variables(),
                      .validations = std::move(validations)},
                     HasFences(switches));
}

}  // namespace mandate::rbacgen
