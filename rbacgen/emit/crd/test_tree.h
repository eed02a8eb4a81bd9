// Makes definitions from the .proto sources of a test, with all possible imports.
#pragma once

#include <string>
#include <vector>

#include "rbacgen/emit/crd/definition.h"

namespace mandate::rbacgen {

struct TestOutput {
  std::vector<Definition> definitions;
  std::string report;
};

// Makes definitions from .proto files in `folder`. The files may import those of Kubernetes and of
// this project.
TestOutput MakeDefinitionsOf(const std::string& folder, const std::vector<std::string>& files);

// The same for one file with the content `text`. Its name in the report is "x.proto".
TestOutput MakeDefinitionsOfText(const std::string& text);

}  // namespace mandate::rbacgen
