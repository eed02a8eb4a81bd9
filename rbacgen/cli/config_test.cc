#include "rbacgen/cli/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate::rbacgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Mistake(const std::string& text) {
  const auto config = ParseConfig("rbacgen.yaml", text);
  return config.ok() ? "none" : std::string(config.status().message());
}

TEST(ConfigTest, ReadsEveryKey) {
  const auto config = ParseConfig("rbacgen.yaml", R"(
sources:
- controllers
- path: manager
  needs-component: true
skip: [controllers/old]
component-from: dir
warn-unjustified: true
base-name: acme
part-of: acme-chart
namespace: acme-system
outputs:
  chart: {dir: charts/acme, minimal: true, cluster-scoped: [issuers.example.com]}
  header: {out: a.h, base: with}
  roles: {out: role.yaml, role-name: manager-role, minimal: true}
  webhook: {out: webhook.yaml, service-name: s, service-namespace: n}
  crd: {dir: crds, files: [api], proto-path: [., protos], max-description: 0}
  audit-policy: {out: policy.yaml, bodies: true}
)");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->sources.size(), 2);
  EXPECT_EQ(config->sources[0].path, "controllers");
  EXPECT_FALSE(config->sources[0].needs_component);
  EXPECT_TRUE(config->sources[1].needs_component);
  EXPECT_THAT(config->skip, ElementsAre("controllers/old"));
  EXPECT_EQ(config->component_from, ComponentFrom::kDir);
  EXPECT_TRUE(config->warn_unjustified);
  EXPECT_EQ(config->base_name + config->part_of + config->ns, "acmeacme-chartacme-system");
  EXPECT_TRUE(config->chart->minimal);
  EXPECT_EQ(config->chart->cluster_scoped, std::vector<std::string>{"issuers.example.com"});
  EXPECT_EQ(config->header->base, "with");
  EXPECT_EQ(config->roles->role_name, "manager-role");
  EXPECT_EQ(config->webhook->service_namespace, "n");
  EXPECT_THAT(config->crd->proto_path, ElementsAre(".", "protos"));
  EXPECT_EQ(config->crd->max_description, 0);
  EXPECT_TRUE(config->audit_policy->bodies);
}

TEST(ConfigTest, HasDefaults) {
  const auto config =
      ParseConfig("rbacgen.yaml", "sources: [.]\noutputs:\n  crd: {dir: d, files: f}");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->base_name, "mandate-manager");
  EXPECT_EQ(config->component_from, ComponentFrom::kMarker);
  EXPECT_FALSE(config->chart || config->header || config->roles || config->audit_policy);
  EXPECT_THAT(config->crd->files, ElementsAre("f"));
  EXPECT_THAT(config->crd->proto_path, ElementsAre("."));
}

TEST(ConfigTest, NamesTheLineAndTheNearestKey) {
  EXPECT_EQ(Mistake("sources: [.]\noutputs:\n  chrt: {dir: d}"),
            "rbacgen.yaml:3: unknown key \"chrt\" in outputs; did you mean \"chart\"?");
  EXPECT_EQ(Mistake("sources: [.]\ncomponentFrom: dir"),
            "rbacgen.yaml:2: unknown key \"componentFrom\" in the configuration; did you mean "
            "\"component-from\"?");
  EXPECT_EQ(
      Mistake("sources: [.]\noutputs:\n  chart: {folder: d}"),
      "rbacgen.yaml:3: unknown key \"folder\" in chart; known keys: cluster-scoped, dir, minimal");
}

TEST(ConfigTest, ReportsInvalidValues) {
  EXPECT_EQ(Mistake("outputs: {}"), "rbacgen.yaml:1: the configuration needs the key \"sources\"");
  EXPECT_EQ(Mistake(""), "rbacgen.yaml:1: the configuration must be a map");
  EXPECT_EQ(Mistake("sources: x"), "rbacgen.yaml:1: sources must be a list of paths");
  EXPECT_EQ(Mistake("sources: [.]\nsources: [.]"),
            "rbacgen.yaml:2: key \"sources\" is given twice");
  EXPECT_EQ(Mistake("sources: [.]\ncomponent-from: folder"),
            "rbacgen.yaml:2: component-from must be one of marker, dir, file");
  EXPECT_EQ(Mistake("sources: [.]\nwarn-unjustified: yes"),
            "rbacgen.yaml:2: warn-unjustified must be true or false");
  EXPECT_EQ(Mistake("sources: [.]\nskip: {a: b}"),
            "rbacgen.yaml:2: skip must be a list of strings");
  EXPECT_THAT(Mistake("sources: [.]\nbase-name: A_b"), HasSubstr("rbacgen.yaml:2: base-name: "));
  EXPECT_EQ(Mistake("sources: [.]\noutputs:\n  roles: {out: x}"),
            "rbacgen.yaml: roles needs the key \"role-name\", or component-from: dir");
  EXPECT_EQ(Mistake("sources: [.]\noutputs:\n  crd: {dir: x, files: y, max-description: many}"),
            "rbacgen.yaml:3: max-description must be a number of bytes");
  EXPECT_EQ(Mistake("sources: [.]\noutputs:\n  header: {out: \"a\\0b\"}"),
            "rbacgen.yaml:3: out must not have control characters");
  EXPECT_EQ(Mistake("sources: [\"\\e[1A\"]"),
            "rbacgen.yaml:1: a source must not have control characters");
  EXPECT_EQ(
      Mistake("sources: [.]\nskip: ["),
      "rbacgen.yaml:2: this is not valid YAML (end of sequence flow not found); fix this line "
      "or the lines above it");
}

}  // namespace
}  // namespace mandate::rbacgen
