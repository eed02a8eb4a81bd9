#include "rbacgen/emit/crd/test_tree.h"

#include <cstdlib>

#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {

TestOutput MakeDefinitionsOf(const std::string& folder, const std::vector<std::string>& files) {
  Diagnostics diagnostics;
  ProtoFiles protos({folder, ".", "external/kubernetes"}, &diagnostics);
  std::vector<const google::protobuf::FileDescriptor*> sources;
  for (const std::string& file : files) {
    if (const auto* source = protos.Load(StrCat(folder, "/", file))) sources.push_back(source);
  }
  TestOutput output;
  output.definitions = MakeDefinitions(sources, protos, {}, &diagnostics);
  output.report = absl::StrReplaceAll(diagnostics.Report(), {{StrCat(folder, "/"), ""}});
  return output;
}

TestOutput MakeDefinitionsOfText(const std::string& text) {
  const char* folder = std::getenv("TEST_TMPDIR");
  if (!WriteWholeFile(StrCat(folder, "/x.proto"), text).ok()) return {{}, "cannot write x.proto"};
  return MakeDefinitionsOf(folder, {"x.proto"});
}

}  // namespace mandate::rbacgen
