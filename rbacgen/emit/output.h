// The files that a generator makes, before they are written.
#pragma once

#include <string>
#include <vector>

namespace mandate::rbacgen {

struct OutputFile {
  std::string path;
  std::string text;
};

}  // namespace mandate::rbacgen
