// Worlds for the tests of this folder.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rbacgen/world/manifests.h"
#include "rbacgen/world/tree_world.h"

namespace mandate::rbacgen {

// The world of a YAML text; a mistake in it fails the test.
inline World WorldOf(std::string_view yaml) {
  absl::StatusOr<World> world = ReadManifests("test", yaml, "default");
  EXPECT_TRUE(world.ok()) << world.status();
  ResolveAggregates(&*world);
  return world.value_or(World());
}

// The world of the markers in one source file.
inline World TreeOf(std::string_view markers) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("x.go", markers, Severity::kError, &sources, &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  NameComponents({}, &sources);
  return TreeWorld(sources, {});
}

}  // namespace mandate::rbacgen
