// The declarations in the markers of a set of source files.
//
// A marker is a // comment on its own line, anywhere in the file. controller-gen, in contrast,
// drops markers directly above a function (controller-tools #221).
//
//   // +kubebuilder:rbac:groups=…,resources=…,verbs=…      the ecosystem's marker
//   // +mandate:component:name=scope-instance              the rules below it in this file are its
//   // +mandate:component:name=scope-instance,events=none  and it records no events
//   // +mandate:rbac:justify="why",groups=…,…,verbs=…      a risky rule with a reason
//   // +mandate:justify:reason="why"                      the same, above a marker that
//   // +kubebuilder:rbac:groups=…,resources=…,verbs=…       controller-gen is to understand too
//   // +mandate:rbac:granted=external,groups=…,…,verbs=…   a rule that an administrator grants
//   later
//   // +mandate:fence:groups=…,resources=…,label=…         what a rule allows, but not all of it
//
// A name that is similar to one of these is reported, and so is a marker in a "///" comment or
// after code. Markers of other tools are not checked. An unclosed string of a +mandate: marker
// continues in the comment line below, after a blank.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/markers/diagnostics.h"
#include "rbacgen/markers/fence.h"
#include "rbacgen/markers/marker_arguments.h"

namespace mandate::rbacgen {

// One rbac marker.
struct Declaration {
  rbac::Rule rule;  // as written: not normalised
  // One of `namespaces`; empty: every namespace and cluster scope; rbac::kManagerNamespace: the
  // manager's.
  std::string ns;
  std::string role_name;  // empty: the generator chooses it
  bool ours = false;      // a +mandate:rbac marker, which controller-gen does not support
  bool external = false;
  // Whether list and watch requests have the field selector that makes them match resourceNames.
  bool selects_by_name = false;
  std::string justification;
  std::string component;  // empty if no component marker precedes it in its file
  std::string arguments;  // the text after the marker's name
  Place place;
};

// One fence marker.
struct FenceDeclaration {
  Fence fence;
  std::string component;  // empty if no component marker precedes it in its file
  Place place;
};

// The chart's value that enables a component without a controller, and the place of its marker.
struct ChartValue {
  std::string path;    // the path of the chart's value, "metrics.secure"
  std::string unless;  // the path of a value that disables the component again; empty: none
  Place place;
};

struct Sources {
  // Sorted by file and line.
  std::vector<Declaration> declarations;
  std::vector<FenceDeclaration> fences;
  // The places that name each component.
  std::map<std::string, std::vector<Place>> components;
  // The chart values of components without a controller.
  std::map<std::string, ChartValue> values;
  // The components that do not record events.
  std::set<std::string> without_events;
};

// The arguments of the marker +mandate:component.
std::span<const ArgumentSpec> ComponentArguments();

// Adds the value. If the component has another value already, reports an error at its place.
void AddValue(const std::string& component, ChartValue value, Sources* sources,
              Diagnostics* diagnostics);

// Adds the declarations of one file. A marker with a mistake is reported and skipped. `misplaced`
// is the severity of a marker in a place where it has no effect.
//
// Rules without a component marker above them belong to `component`; if it is empty, they do not
// belong to any component.
void ReadDeclarations(const std::string& file, std::string_view text, Severity misplaced,
                      Sources* sources, Diagnostics* diagnostics,
                      const std::string& component = "");

}  // namespace mandate::rbacgen
