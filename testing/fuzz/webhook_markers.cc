// Webhook markers in any source: the webhooks do not depend on the position of the file's lines.
// Webhooks without an error are valid for the API server, and the YAML contains exactly these
// webhooks.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "manager/object/json.h"
#include "rbacgen/emit/webhook/configurations.h"
#include "rbacgen/emit/webhook/webhook.h"
#include "rbacgen/emit/webhook_check.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using rbacgen::Diagnostics;
using rbacgen::Severity;
using rbacgen::Webhooks;

struct Reading {
  Webhooks webhooks;
  Diagnostics diagnostics;
  std::string text;  // the configurations
};

Reading Read(const std::string& file, std::string_view text) {
  Reading reading;
  ReadWebhooks(file, text, Severity::kError, &reading.webhooks, &reading.diagnostics);
  CheckWebhooks(reading.webhooks, Severity::kError, &reading.diagnostics);
  if (reading.diagnostics.errors() > 0) return reading;
  reading.text =
      WriteDocuments(WebhookConfigurations(reading.webhooks, {}), rbacgen::Yaml::Flavor::kPlain);
  return reading;
}

// The names of the webhooks in the configurations, as a YAML parser reads them.
std::vector<std::string> NamesIn(const std::string& text) {
  std::vector<std::string> names;
  try {
    for (const YAML::Node& document : YAML::LoadAll(text)) {
      for (const YAML::Node& webhook : document["webhooks"]) {
        names.push_back(webhook["name"].as<std::string>());
      }
    }
  } catch (const YAML::Exception& e) {
    Require(false, "the configurations are YAML", e.what(), text);
  }
  return names;
}

void Check(const std::string& file, std::string_view text) {
  const Reading reading = Read(file, text);
  const Reading shifted = Read(file, WithLinesAbove(text));
  Require(
      reading.diagnostics.errors() == shifted.diagnostics.errors() && reading.text == shifted.text,
      "lines above change nothing", reading.diagnostics.Report(), shifted.diagnostics.Report());
  if (reading.diagnostics.errors() > 0) {
    Require(!reading.diagnostics.Report().empty(), "errors are reported");
    return;
  }
  std::vector<std::string> names;
  for (const rbacgen::Webhook& webhook : reading.webhooks.webhooks) {
    const auto mistakes = rbacgen::CheckWebhook(webhook.object);
    Require(mistakes.empty(), "what is read without an error has no mistake",
            mistakes.empty() ? "" : mistakes.front());
    names.push_back(webhook.name());
  }
  std::vector<std::string> written = NamesIn(reading.text);
  std::ranges::sort(names);
  std::ranges::sort(written);
  Require(names == written, "every webhook is in the configurations, once", reading.text);
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate::fuzz;
  if (size < 1 || size > 4000) return 0;
  // The first byte chooses the language.
  const char* const kFiles[] = {"a.go", "a.cc", "a.rs"};
  const std::string file = kFiles[data[0] % std::size(kFiles)];
  Check(file, Text(data, size).substr(1));
  return 0;
}
