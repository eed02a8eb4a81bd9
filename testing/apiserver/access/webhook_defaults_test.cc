#include "testing/apiserver/access/webhook_defaults.h"

#include <string>

#include "gtest/gtest.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

std::string Defaulted(std::string_view resource, std::string_view text) {
  Json::Value object = ParseJson(text).value();
  DefaultWebhooks(resource, object);
  return WriteJson(object);
}

TEST(WebhookDefaultsTest, FillsInWhatIsLeftOut) {
  EXPECT_EQ(Defaulted("validatingwebhookconfigurations",
                      R"({"webhooks":[{"clientConfig":{"service":{"name":"s"}},"rules":[{}]}]})"),
            R"({"webhooks":[{"clientConfig":{"service":{"name":"s","port":443}},)"
            R"("failurePolicy":"Fail","matchPolicy":"Equivalent","namespaceSelector":{},)"
            R"("objectSelector":{},"rules":[{"scope":"*"}],"timeoutSeconds":10}]})");
  EXPECT_EQ(Defaulted("mutatingwebhookconfigurations", R"({"webhooks":[{}]})"),
            R"({"webhooks":[{"failurePolicy":"Fail","matchPolicy":"Equivalent",)"
            R"("namespaceSelector":{},"objectSelector":{},"reinvocationPolicy":"Never",)"
            R"("timeoutSeconds":10}]})");
}

TEST(WebhookDefaultsTest, LeavesWhatIsThere) {
  const std::string full =
      R"({"webhooks":[{"clientConfig":{"url":"https://h"},"failurePolicy":"Ignore",)"
      R"("matchPolicy":"Exact","namespaceSelector":{"matchLabels":{"a":"b"}},)"
      R"("objectSelector":{},"reinvocationPolicy":"IfNeeded","rules":[{"scope":"Cluster"}],)"
      R"("timeoutSeconds":3}]})";
  EXPECT_EQ(Defaulted("mutatingwebhookconfigurations", full), full);
  EXPECT_EQ(Defaulted("configmaps", R"({"webhooks":[{}]})"), R"({"webhooks":[{}]})");
  EXPECT_EQ(Defaulted("mutatingwebhookconfigurations", R"({"webhooks":null})"),
            R"({"webhooks":null})");
}

}  // namespace
}  // namespace mandate::apiserver
