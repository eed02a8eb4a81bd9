// The files of a new chart that the user edits after rbacgen has made them.
#pragma once

#include <span>
#include <string_view>

namespace mandate::rbacgen {

struct SkeletonFile {
  std::string_view path;  // in the chart's folder
  std::string_view text;
};

// All files except Chart.yaml. They refer to the manager by the names that the generated part
// defines.
std::span<const SkeletonFile> ChartSkeleton();

}  // namespace mandate::rbacgen
