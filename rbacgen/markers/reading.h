// What a set of source files declares, read on several threads.
#ifndef RBACGEN_MARKERS_READING_H_
#define RBACGEN_MARKERS_READING_H_

#include <string>
#include <vector>

#include "rbacgen/markers/component_from.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Adds what the files declare, in their order. Files that cannot be read are errors, and so are two
// folders (files of two folders) that one component is named after. `misplaced` as of
// ReadDeclarations.
void ReadFiles(const std::vector<std::string>& files, ComponentFrom from, Severity misplaced,
               Sources* sources, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_READING_H_
