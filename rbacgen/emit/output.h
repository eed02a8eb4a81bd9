// The files that a generator makes, before they are written.
#ifndef RBACGEN_EMIT_OUTPUT_H_
#define RBACGEN_EMIT_OUTPUT_H_

#include <string>
#include <vector>

namespace mandate::rbacgen {

struct OutputFile {
  std::string path;
  std::string text;
};

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_OUTPUT_H_
