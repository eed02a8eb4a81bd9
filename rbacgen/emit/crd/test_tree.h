// Makes definitions from the .proto sources of a test, with all possible imports.
#ifndef RBACGEN_EMIT_CRD_TEST_TREE_H_
#define RBACGEN_EMIT_CRD_TEST_TREE_H_

#include <string>
#include <vector>

#include "rbacgen/emit/crd/definition.h"

namespace mandate::rbacgen {

struct TestOutput {
  std::vector<Definition> definitions;
  std::string report;
};

// Makes definitions from files below `folder`; they can import Kubernetes' and this project's own
// files.
TestOutput MakeDefinitionsOf(const std::string& folder, const std::vector<std::string>& files);

// Makes definitions from one file, which is written to a folder of the test; reports call it
// "x.proto".
TestOutput MakeDefinitionsOfText(const std::string& text);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_TEST_TREE_H_
