#include "webhooks/scope/scope_webhooks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/kinds.h"
#include "manager/admission/review_flow.h"
#include "manager/admission/typed.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "webhooks/scope/grants.h"
#include "webhooks/scope/large_checks.h"
#include "webhooks/scope/maxima.h"
#include "webhooks/scope/refusals.h"
#include "webhooks/scope/verdict.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

// Access reviews of one call that are under way at once.
constexpr size_t kAtOnce = 16;
// Checks with more access reviews than kLarge: so many of one user, and of all, run at once. The
// component's other threads are for small ones.
constexpr size_t kLarge = 50;
constexpr size_t kLargePerUser = 2;
constexpr size_t kLargeInAll = 4;
// Instances that a warning names.
constexpr size_t kMostNamed = 3;

// The inputs of the checks.
struct Checker {
  const Component& component;
  std::shared_ptr<LargeChecks> large;
};

// `grants` is GrantsOfTemplate() or GrantsOfInstance() of the write.
absl::Status CheckAuthor(
    const Checker& checker, AdmissionCall& call,
    absl::FunctionRef<absl::StatusOr<std::vector<Requirement>>(const GrantOptions&)> grants) {
  GrantOptions options{.stop = call.context().stop};
  if (const auto all = grants(options); all.ok() && all->empty()) return absl::OkStatus();
  if (options.stop.stop_requested()) return absl::DeadlineExceededError("the deadline passed");
  const auto ask = [&](std::vector<AccessQuestion> questions) {
    return ReviewUserAccess(call.context(), checker.component.client, call.user(),
                            std::move(questions), kAtOnce);
  };
  // Administrators need two reviews, whatever the size of the object.
  ASSIGN_OR_RETURN(const auto may, ask({EscalateAll(), BindAll()}));
  options.may_escalate = may[0].allowed();
  options.may_bind = may[1].allowed();
  ASSIGN_OR_RETURN(const auto requirements, grants(options));
  size_t reviews = 0;
  for (const Requirement& requirement : requirements) reviews += 1 + requirement.rights.size();
  std::shared_ptr<void> place;
  if (reviews > kLarge &&
      (place = checker.large->Take(FlowOf(call.user().username()))) == nullptr) {
    // Others' objects say nothing about this one, so this is not a denial.
    return absl::UnavailableError(
        StrCat("checking it needs ", reviews,
               " access reviews, and other large objects of this or "
               "of other users are being checked; try again, or write a smaller object"));
  }
  return CheckRequirements(call.user().username(), requirements, ask);
}

// Others may have written them: the author of a new right must know where it will be bound.
void WarnOfInstances(const std::vector<ScopeInstance>& instances, AdmissionCall& call) {
  if (instances.empty()) return;
  std::string names;
  for (size_t i = 0; i < std::min(instances.size(), kMostNamed); ++i) {
    StrAppend(&names, i == 0 ? "" : ", ", instances[i].metadata().name());
  }
  if (instances.size() > kMostNamed) StrAppend(&names, " and others");
  call.Warn(StrCat("these ScopeInstances bind the new permissions: ", names, " (", instances.size(),
                   " in all)"));
}

absl::Status CheckSizeOf(const ScopeTemplate& scope_template) {
  return CheckMaxima(scope_template.spec(), "spec");
}

absl::Status CheckSizeOf(const ScopeInstance& instance) {
  RETURN_IF_ERROR(CheckMaxima(instance.spec(), "spec"));
  return CheckSelector(instance.spec().namespaceselector().raw(), "spec.namespaceSelector");
}

// Before anything is expanded. An old object that is too large counts as absent, so that all of the
// new one is checked.
template <class T>
absl::Status CheckSize(const T& now, const T*& old) {
  RETURN_IF_ERROR(CheckSizeOf(now));
  if (old != nullptr && !CheckSizeOf(*old).ok()) old = nullptr;
  return absl::OkStatus();
}

// A write of the metadata grants nothing. It must pass also if the object is larger than it may be
// now: otherwise no user could remove a finalizer of it. The specs have no maps, so equal ones have
// the same bytes.
template <class T>
bool HasSameSpec(const T* old, const T& now) {
  return old != nullptr && old->spec().SerializeAsString() == now.spec().SerializeAsString();
}

// `old` is null for a new template.
absl::Status CheckTemplate(const Checker& checker, AdmissionCall& call, const ScopeTemplate* old,
                           const ScopeTemplate& now) {
  if (HasSameSpec(old, now)) return absl::OkStatus();
  RETURN_IF_ERROR(CheckSize(now, old));
  const CacheView& cache = checker.component.cache();
  RETURN_IF_ERROR(RefuseTemplate(old, now, checker.component.ns));
  ASSIGN_OR_RETURN(const auto instances, cache.ListByIndex<ScopeInstance>(
                                             call.context(), {kByTemplate, now.metadata().name()}));
  const auto grants = [&](const GrantOptions& options) {
    return GrantsOfTemplate(old, now, instances, options);
  };
  RETURN_IF_ERROR(CheckAuthor(checker, call, grants));
  if (const auto all = grants({.stop = call.context().stop}); !all.ok() || !all->empty())
    WarnOfInstances(instances, call);
  return absl::OkStatus();
}

// `old` is null for a new instance.
absl::Status CheckInstance(const Checker& checker, AdmissionCall& call, const ScopeInstance* old,
                           const ScopeInstance& now) {
  if (HasSameSpec(old, now)) return absl::OkStatus();
  RETURN_IF_ERROR(CheckSize(now, old));
  RETURN_IF_ERROR(RefuseInstance(old, now, checker.component.ns));
  std::optional<ScopeTemplate> scope_template;
  auto found = checker.component.cache().Get<ScopeTemplate>(call.context(),
                                                            {"", now.spec().scopetemplatename()});
  if (found.ok()) {
    scope_template = *std::move(found);
  } else if (!absl::IsNotFound(found.status())) {
    return found.status();
  }
  return CheckAuthor(checker, call, [&](const GrantOptions& options) {
    return GrantsOfInstance(old, now, scope_template, options);
  });
}

// Creations and updates by `kCheck`, which gets a null `old` for a creation. Thread-safe.
template <Object T, auto kCheck>
class WriteValidator : public Validator<T> {
 public:
  explicit WriteValidator(Checker checker) : checker_(std::move(checker)) {}
  absl::Status ValidateCreate(AdmissionCall& call, const T& object) override {
    return kCheck(checker_, call, nullptr, object);
  }
  absl::Status ValidateUpdate(AdmissionCall& call, const T& old_object, const T& object) override {
    return kCheck(checker_, call, &old_object, object);
  }

 private:
  const Checker checker_;
};

}  // namespace

absl::StatusOr<Webhooks> MakeScopeWebhooks(const Component& component) {
  CacheView& cache = component.cache();
  RETURN_IF_ERROR(DeclareTemplateIndex(cache));
  Webhooks webhooks;
  for (const KindInfo& kind : {KindOf<ScopeTemplate>::value, KindOf<ScopeInstance>::value}) {
    webhooks.demands.push_back(cache.Demand({.kind = kind, .ns = "", .name = ""}, nullptr));
  }
  const Checker checker{component, std::make_shared<LargeChecks>(kLargePerUser, kLargeInAll)};
  webhooks.hooks.push_back(ValidatingWebhook<ScopeTemplate>(
      std::make_shared<WriteValidator<ScopeTemplate, CheckTemplate>>(checker)));
  webhooks.hooks.push_back(ValidatingWebhook<ScopeInstance>(
      std::make_shared<WriteValidator<ScopeInstance, CheckInstance>>(checker)));
  return webhooks;
}

}  // namespace mandate::scope
