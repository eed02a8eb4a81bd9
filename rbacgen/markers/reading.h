// Reads the declarations of a set of source files on several threads.
#pragma once

#include <string>
#include <vector>

#include "rbacgen/markers/component_from.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Adds the declarations of the files, in the order of the files. Reports as errors a file that
// cannot be read, and two folders (or files of two folders) that give a component the same name.
// `misplaced` is as for ReadDeclarations.
void ReadFiles(const std::vector<std::string>& files, ComponentFrom from, Severity misplaced,
               Sources* sources, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
