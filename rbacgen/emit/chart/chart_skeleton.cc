#include "rbacgen/emit/chart/chart_skeleton.h"

namespace mandate::rbacgen {

std::span<const SkeletonFile> ChartSkeleton() {
  static constexpr SkeletonFile kFiles[] = {
#include "rbacgen/emit/chart/chart_skeleton_data.inc"
  };
  return kFiles;
}

}  // namespace mandate::rbacgen
