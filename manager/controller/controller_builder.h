// A controller's builder that checks the component's mandate:
//
//   auto controller = ControllerBuilder<kScopeInstance>(component.controller_context)
//                         .For<ScopeInstance>()
//                         .Owns<RoleBinding>()
//                         .Complete(std::make_unique<ScopeInstanceReconciler>(…));
//
// A kind that the mandate does not let it list and watch does not compile (client/permission.h);
// each watch leaves a record in the binary (client/call_record.h). A watch of the whole cluster
// needs a marker without namespace= and resourceNames=; a narrower marker needs a narrower demand:
//
//   .Watches<ConfigMap>(InNamespace{"default"}, map)
//   .Watches<ConfigMap>(OneObject{"default", "settings"}, map)
//
// The namespace and the name may come from an option: they are compared with the marker when the
// demand is made (cache/check_demand.h).
#pragma once

#include <cstddef>
#include <string_view>

#include "manager/client/call_record.h"
#include "manager/client/permission.h"
#include "manager/controller/builder.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/marker.h"

namespace mandate {

// Never defined: the compiler's error shows its name. The component's markers let it list and watch
// the kind in a part of the cluster only, and the controller demands all of it. Narrow the demand
// to kInstead.
template <FixedString kComponent, FixedString kKind, FixedString kInstead>
struct DEMAND_IS_WIDER_THAN_THE_MARKER;

namespace builder_internal {

constexpr bool Concerns(const rbac::MandateRule& r, std::string_view verb, const KindInfo& kind) {
  return rbac::VerbMatches(r.rule, verb) && rbac::GroupMatches(r.rule, kind.group) &&
         rbac::ResourceMatches(r.rule, kind.plural, "");
}

// Whether some rule allows it for every object in the cluster.
constexpr bool PermitsEverywhere(const rbac::Mandate& mandate, std::string_view verb,
                                 const KindInfo& kind) {
  for (const rbac::MandateRule& r : mandate.rules) {
    if (r.ns.empty() && r.rule.resource_names.empty() && Concerns(r, verb, kind)) return true;
  }
  return false;
}

// Whether some rule allows it for all that `scope` names.
constexpr bool PermitsThere(const rbac::Mandate& mandate, std::string_view verb,
                            const KindInfo& kind, const rbac::MandateRule& scope) {
  const auto covers = [&](const rbac::MandateRule& r) {
    if (!r.ns.empty() && r.ns != scope.ns) return false;
    if (r.rule.resource_names.empty()) return true;
    if (scope.rule.resource_names.empty()) return false;
    for (const std::string_view name : r.rule.resource_names) {
      if (name == scope.rule.resource_names[0]) return true;
    }
    return false;
  };
  for (const rbac::MandateRule& r : mandate.rules) {
    if (covers(r) && Concerns(r, verb, kind)) return true;
  }
  return false;
}

// The error of a demand that is too wide. It names the scope of the first marker that is narrower
// and within which the component may both list and watch; else that of the first narrower marker.
template <const rbac::Mandate& kMandate, class T>
struct TooWide {
  static constexpr KindInfo kKind = KindOf<T>::value;

  // Null where no marker is narrower: then the error is another one.
  static constexpr const rbac::MandateRule* Narrower() {
    const rbac::MandateRule* first = nullptr;
    for (const rbac::MandateRule& r : kMandate.rules) {
      if (r.ns.empty() && r.rule.resource_names.empty()) continue;
      if (!Concerns(r, "list", kKind) && !Concerns(r, "watch", kKind)) continue;
      if (PermitsThere(kMandate, "list", kKind, r) && PermitsThere(kMandate, "watch", kKind, r)) {
        return &r;
      }
      if (first == nullptr) first = &r;
    }
    return first;
  }
  static consteval void Append(auto& out) {
    const rbac::MandateRule* scope = Narrower();
    if (scope == nullptr) return;
    const bool named = !scope->rule.resource_names.empty();
    out.append(named ? "demand OneObject{" : "demand InNamespace{");
    if (scope->ns == rbac::kManagerNamespace) {
      out.append("std::string(component.ns)");
    } else {
      // The names of a marker may be in any namespace; a cluster-scoped object is in none.
      const bool in_any = scope->ns.empty() && kKind.scope == Scope::kNamespaced;
      out.append("\"");
      out.append(in_any ? "NAMESPACE" : scope->ns);
      out.append("\"");
    }
    if (named) {
      out.append(", \"");
      out.append(scope->rule.resource_names[0]);
      out.append("\"");
    }
    out.append("}");
  }
  static consteval size_t Size() {
    permission_internal::Counter counter;
    Append(counter);
    return counter.size + 1;
  }
  static consteval auto Instead() {
    FixedString<Size()> text;
    permission_internal::Writer writer{text.text};
    Append(writer);
    return text;
  }

  using type =
      DEMAND_IS_WIDER_THAN_THE_MARKER<Fixed<kMandate.component.size() + 1>(kMandate.component),
                                      Fixed<kKind.kind.size() + 1>(kKind.kind), Instead()>;
};

}  // namespace builder_internal

// The checks of a mandate. Not met, they name the missing marker in the compiler's error; met, they
// leave a record of the watch in the binary.
template <const rbac::Mandate& kMandate>
struct MandateDemandCheck {
  // The verbs of a watch that the mandate lacks, as a marker lists them: "", "watch", "list;watch".
  template <class T>
  static consteval auto MissingVerbs() {
    constexpr bool kLists = MandateDeclares<kMandate, T, "list">;
    constexpr bool kWatches = MandateDeclares<kMandate, T, "watch">;
    if constexpr (kLists && kWatches) {
      return FixedString("");
    } else if constexpr (kLists) {
      return FixedString("watch");
    } else if constexpr (kWatches) {
      return FixedString("list");
    } else {
      return FixedString("list;watch");
    }
  }
  // `kReach` is that of the missing marker: it lets the component watch no more than it demands.
  template <class T, rbac::MarkerReach kReach, class Result>
  using Declared = typename permission_internal::If<
      MissingVerbs<T>().view().empty(), Result,
      permission_internal::Missing<kMandate, T, MissingVerbs<T>(), "", kReach>>::type;
  template <class T, class Result>
  using Everywhere =
      Declared<T, rbac::MarkerReach::kCluster,
               typename permission_internal::If<
                   builder_internal::PermitsEverywhere(kMandate, "list", KindOf<T>::value) &&
                       builder_internal::PermitsEverywhere(kMandate, "watch", KindOf<T>::value),
                   Result, builder_internal::TooWide<kMandate, T>>::type>;
  template <class T, class Result>
  using Demanded = Declared<T, rbac::MarkerReach::kExternal, Result>;
  template <class T, class Result>
  using Watched = Declared<T, rbac::MarkerReach::kNamespace, Result&>;
  template <class T, class Result>
  using WatchedEverywhere = Everywhere<T, Result&>;

  template <class T, rbac::MarkerReach kReach = rbac::MarkerReach::kNamespace>
  [[gnu::always_inline]] static inline void RecordWatch() {
    if constexpr (MissingVerbs<T>().view().empty()) {
      RecordCall<kMandate, T, "list">();
      RecordCall<kMandate, T, "watch">();
    } else {
      call_record_internal::RefuseUndeclared<kMandate, T, MissingVerbs<T>(), "", kReach>();
    }
  }
  template <class T>
  [[gnu::always_inline]] static inline void RecordWatchEverywhere() {
    RecordWatch<T, rbac::MarkerReach::kCluster>();
  }
};

template <const rbac::Mandate& kMandate>
using ControllerBuilder = BasicBuilder<MandateDemandCheck<kMandate>>;

}  // namespace mandate
