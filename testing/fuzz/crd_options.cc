// CRD options of any text: the same text gives the same definitions or the same error report, which
// names the file; each definition is the YAML of a CustomResourceDefinition.
//
// The input's lines are: options of the kind, options of a field, and from the third on more fields
// and messages.
#include <stdlib.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "rbacgen/emit/crd/definition.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

// A temporary folder for the source file.
const std::string& Folder() {
  static const std::string& folder = *[] {
    const char* const given = std::getenv("TEST_TMPDIR");
    std::string name = std::string(given != nullptr ? given : "/tmp") + "/crd_options.XXXXXX";
    Require(mkdtemp(name.data()) != nullptr, "a folder can be made");
    return new std::string(name);
  }();
  return folder;
}

std::string LineOf(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string line(text->substr(0, end));
  text->remove_prefix(end == text->npos ? text->size() : end + 1);
  return line;
}

std::string Source(std::string_view input) {
  const std::string resource = LineOf(&input), field = LineOf(&input);
  return "syntax = \"proto2\"; package x;\nimport \"api/mandate/options.proto\";\n"
         "message Thing {\n  option (mandate.api.resource) = {\n"
         "    group: \"example.com\" version: \"v1\" plural: \"things\" scope: \"Cluster\"\n    " +
         resource +
         "\n  };\n  optional Spec spec = 2;\n}\nmessage Spec {\n"
         "  optional string a = 1 [(mandate.api.schema) = {\n    " +
         field + "\n  }];\n  " + std::string(input) + "\n}\n";
}

struct Output {
  std::vector<rbacgen::Definition> definitions;
  rbacgen::Diagnostics diagnostics;
};

Output Make(const std::string& path) {
  Output output;
  rbacgen::ProtoFiles files({Folder()}, &output.diagnostics);
  if (const auto* source = files.Load(path)) {
    output.definitions = MakeDefinitions({source}, files, {}, &output.diagnostics);
  }
  return output;
}

void Check(const Output& output) {
  if (output.diagnostics.errors() > 0) {
    Require(output.diagnostics.Report().find("x.proto") != std::string::npos, "errors say where",
            output.diagnostics.Report());
    return;
  }
  for (const rbacgen::Definition& definition : output.definitions) {
    try {
      const YAML::Node node = YAML::Load(definition.text);
      Require(node["kind"].as<std::string>() == "CustomResourceDefinition",
              "a definition is a CustomResourceDefinition", definition.text);
      Require(node["spec"]["versions"].size() > 0, "it has a version", definition.text);
    } catch (const YAML::Exception& e) {
      Require(false, "a definition is YAML", e.what(), definition.text);
    }
  }
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate::fuzz;
  if (size > 2000) return 0;
  const std::string path = Folder() + "/x.proto";
  std::ofstream(path, std::ios::binary) << Source(Text(data, size));
  const Output output = Make(path);
  Check(output);
  const Output again = Make(path);
  Require(output.diagnostics.Report() == again.diagnostics.Report() &&
              output.definitions.size() == again.definitions.size(),
          "the same text is the same definitions");
  for (size_t i = 0; i < output.definitions.size(); ++i) {
    Require(output.definitions[i].text == again.definitions[i].text,
            "the same text is the same definition");
  }
  return 0;
}
