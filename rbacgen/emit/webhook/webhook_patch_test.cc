#include "rbacgen/emit/webhook/webhook_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;

// The patched webhook, or the error.
std::string Patch(const std::string& webhook, const std::string& patch, bool mutating = true) {
  const auto patched = PatchWebhook(*ParseJson(webhook), patch, mutating);
  return patched.ok() ? WriteJson(*patched) : std::string(patched.status().message());
}

TEST(PatchWebhook, MergesObjectsAndReplacesTheRest) {
  const struct {
    std::string webhook;
    std::string patch;
    std::string want;
  } cases[] = {
      {R"({"name":"a"})", "", R"({"name":"a"})"},
      {R"({"name":"a"})", "{}", R"({"name":"a"})"},
      {R"({"name":"a","timeoutSeconds":3})", R"({"timeoutSeconds":4})",
       R"({"name":"a","timeoutSeconds":4})"},
      {R"({"name":"a","timeoutSeconds":3})", R"({"timeoutSeconds":null})", R"({"name":"a"})"},
      {R"({"clientConfig":{"service":{"name":"s"}}})", R"({"clientConfig":{"service":{"port":1}}})",
       R"({"clientConfig":{"service":{"name":"s","port":1}}})"},
      {R"({"rules":[{"scope":"*"}]})", R"({"rules":[]})", R"({"rules":[]})"},
      {"{}", R"({"namespaceSelector":{"matchLabels":{"a":"b"}}})",
       R"({"namespaceSelector":{"matchLabels":{"a":"b"}}})"},
      {"{}", R"({"objectSelector":{}})", R"({"objectSelector":{}})"},
      {R"({"matchConditions":[{"name":"a","expression":"x"}]})",
       R"({"matchConditions":[{"name":"b","expression":"y"},{"name":"a","expression":"z"}]})",
       R"({"matchConditions":[{"expression":"z","name":"a"},{"expression":"y","name":"b"}]})"},
  };
  for (const auto& c : cases) EXPECT_EQ(Patch(c.webhook, c.patch), c.want) << c.patch;
}

TEST(PatchWebhook, ReportsMistakes) {
  EXPECT_THAT(Patch("{}", "[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(Patch("{}", R"({"a":)"), HasSubstr("line 1"));
  EXPECT_THAT(Patch("{}", R"({"timeOutSeconds":1})"), HasSubstr("timeOutSeconds"));
  EXPECT_THAT(Patch("{}", R"({"timeOutSeconds":null})"), HasSubstr("timeOutSeconds"));
  EXPECT_THAT(Patch("{}", R"({"timeoutSeconds":"1"})"), HasSubstr("timeoutSeconds"));
  EXPECT_THAT(Patch("{}", R"({"objectSelector":{"labels":{}}})"), HasSubstr("labels"));
  EXPECT_THAT(Patch("{}", R"({"rules":[{"$patch":"delete"}]})"), HasSubstr("\"$patch\""));
  EXPECT_THAT(Patch("{}", R"({"reinvocationPolicy":"Never"})", /*mutating=*/false),
              HasSubstr("reinvocationPolicy"));
}

}  // namespace
}  // namespace mandate::rbacgen
