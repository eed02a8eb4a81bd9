// The files of a new chart that the user edits after rbacgen has made them.
#ifndef RBACGEN_EMIT_CHART_CHART_SKELETON_H_
#define RBACGEN_EMIT_CHART_CHART_SKELETON_H_

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

#endif  // RBACGEN_EMIT_CHART_CHART_SKELETON_H_
