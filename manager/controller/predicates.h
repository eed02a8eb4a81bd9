// Filters of events. They read headers, not whole objects.
//
//   builder.For<ScopeInstance>(AnyOf({GenerationChanged(), LabelChanged()}));
#pragma once

#include <functional>
#include <vector>

#include "manager/cache/cache_view.h"
#include "manager/object/selector.h"

namespace mandate {

// Runs on the component's strand, for each event; must not wait.
using Predicate = std::function<bool(const ObjectEvent&)>;

// An update passes if it changed this, or has no old object; adds and deletes always pass.
//
// The server counts the generation when the spec changes or deletion begins. Kinds without a
// generation (0 before and after, such as roles) always pass.
Predicate GenerationChanged();
Predicate ResourceVersionChanged();
Predicate LabelChanged();
Predicate AnnotationChanged();

// The object's labels match, or did before an update: so the loss of a label is seen, too.
Predicate LabelsMatch(LabelSelector selector);

// All must pass; without any, every event passes. They run in order until one does not pass.
Predicate AllOf(std::vector<Predicate> predicates);
// One must pass; without any, no event passes.
Predicate AnyOf(std::vector<Predicate> predicates);
Predicate Not(Predicate predicate);

// A function for each type of event; an empty function passes all.
struct PredicateFuncs {
  std::function<bool(const RawObject&)> add;
  std::function<bool(const RawObject& old, const RawObject& current)> update;
  std::function<bool(const RawObject&)> remove;
};
Predicate PredicateFrom(PredicateFuncs funcs);

}  // namespace mandate
