// The fixtures of k8s.io/api, as the module's testdata has them: one object of every kind, with
// every field filled, as Go writes it in JSON and in protobuf.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace mandate {

struct Fixture {
  std::string repository;  // "kubernetes"
  std::string folder;      // "HEAD", "v1.35.0"
  std::string stem;        // "apps.v1.Deployment"
  std::string json;
  std::string protobuf;
  // For a fixture of an earlier release: the output of Go after it reads and writes the fixture as
  // this release. Otherwise the same as the two above.
  std::string json_after;
  std::string protobuf_after;
  // "apps/v1" and "Deployment".
  std::string api_version;
  std::string kind;
  bool names_kind = true;  // false: what is inside of something else, a WatchEvent
};

void PrintTo(const Fixture& fixture, std::ostream* out);

// The fixtures of a repository of third_party/bazel/kubernetes.bzl: of its HEAD, or of its earlier
// releases.
std::vector<Fixture> HeadFixtures(std::string_view repository);
std::vector<Fixture> ReleasedFixtures(std::string_view repository);

// For INSTANTIATE_TEST_SUITE_P: "HEAD_apps_v1_Deployment".
std::string FixtureName(const testing::TestParamInfo<Fixture>& info);

}  // namespace mandate
