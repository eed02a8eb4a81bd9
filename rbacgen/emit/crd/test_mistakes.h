// Tables of mistakes in .proto files, with their reports.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>

#include "manager/core/strings.h"
#include "rbacgen/emit/crd/test_tree.h"

namespace mandate::rbacgen {

// A file with the kind Widget: its options, from line 8 on the fields of its spec, and from line 12
// on `more`.
struct Source {
  std::string resource =
      "group: \"example.com\" version: \"v1\" plural: \"widgets\" scope: \"Cluster\"";
  std::string metadata = "optional k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;";
  std::string spec;
  std::string more;
  std::string syntax = "proto2";
  std::string object;

  std::string Text() const {
    return StrCat("syntax = \"", syntax, "\"; package x;\n",
                  "import \"api/mandate/options.proto\"; import "
                  "\"k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto\";\n",
                  "message Widget {\n", "  option (mandate.api.resource) = { ", resource, " };\n",
                  "  ", metadata, "\n", "  optional Spec spec = 2; optional Status status = 3;\n",
                  "} message Status {} message Spec {\n", "  ", object, "\n", "  ", spec, "\n",
                  "}\n", more);
  }
};

// A source with these parts changed.
inline Source With(std::initializer_list<std::pair<std::string Source::*, std::string>> parts) {
  Source source;
  for (const auto& [part, text] : parts) source.*part = text;
  return source;
}

inline std::string Field(const std::string& type, const std::string& options) {
  return StrCat(type, " f = 1 [(mandate.api.schema) = { ", options, " }];");
}

struct Mistake {
  std::string name;
  Source source;
  std::string report;
  int lines = 1;  // the number of lines of the report
};

inline void PrintTo(const Mistake& mistake, std::ostream* os) { *os << mistake.name; }

class MistakeTest : public ::testing::TestWithParam<Mistake> {
 protected:
  void ExpectReported() const {
    const std::string report = MakeDefinitionsOfText(GetParam().source.Text()).report;
    EXPECT_THAT(report, ::testing::HasSubstr(GetParam().report));
    EXPECT_EQ(std::ranges::count(report, '\n'), GetParam().lines) << report;
  }
};

}  // namespace mandate::rbacgen
