// .proto sources of a test, with all their possible imports.
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

// Of files below `folder`; Kubernetes' and this project's own files can be imported.
TestOutput MakeDefinitionsOf(const std::string& folder, const std::vector<std::string>& files);

// Of one file, written to a folder of the test, named "x.proto" in reports.
TestOutput MakeDefinitionsOfText(const std::string& text);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_TEST_TREE_H_
