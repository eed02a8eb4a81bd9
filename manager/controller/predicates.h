// Which events matter. Predicates read headers, not whole objects.
//
//   builder.For<ScopeInstance>(AnyOf({GenerationChanged(), LabelChanged()}));
#ifndef MANAGER_CONTROLLER_PREDICATES_H_
#define MANAGER_CONTROLLER_PREDICATES_H_

#include <functional>
#include <vector>

#include "manager/cache/cache_view.h"

namespace mandate {

// Runs on the component's strand, for each event; must not wait.
using Predicate = std::function<bool(const ObjectEvent&)>;

// Updates that changed this; adds and deletes always pass. An update without an old object passes.
//
// The generation is counted by the server when the spec changes or deletion begins. Kinds that have
// none (0 before and after, such as roles) always pass.
Predicate GenerationChanged();
Predicate ResourceVersionChanged();
Predicate LabelChanged();
Predicate AnnotationChanged();

// All pass: with none, every event does. They are asked in order, and no further than needed.
Predicate AllOf(std::vector<Predicate> predicates);
// At least one passes: with none, no event does.
Predicate AnyOf(std::vector<Predicate> predicates);
Predicate Not(Predicate predicate);

// One function for each type of event; an empty one lets all pass.
struct PredicateFuncs {
  std::function<bool(const RawObject&)> add;
  std::function<bool(const RawObject& old, const RawObject& current)> update;
  std::function<bool(const RawObject&)> remove;
};
Predicate Funcs(PredicateFuncs funcs);

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_PREDICATES_H_
