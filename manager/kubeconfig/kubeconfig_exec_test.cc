#include "manager/kubeconfig/kubeconfig_exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Reads a user's exec entry, in JSON, for a cluster with these members.
absl::StatusOr<ExecPlugin> Read(const std::string& exec, KubeconfigEntry cluster = {}) {
  KubeconfigEntry user;
  user.file = "/etc/mandate/config";
  user.trees["exec"] = *ParseJson(exec);
  Endpoint endpoint;
  endpoint.ca_pem = "CA";
  return ReadExecPlugin(user, "it", cluster, endpoint);
}

constexpr const char* kMembers =
    R"("apiVersion":"client.authentication.k8s.io/v1","command":"aws",)"
    R"("interactiveMode":"Never")";

std::string With(std::string_view members) { return StrCat("{", kMembers, ",", members, "}"); }

TEST(ReadExecPluginTest, AcceptsAndRejectsEntries) {
  struct Row {
    const char* name;
    std::string exec;
    const char* error;  // null: accepted
  };
  const auto of = [](const char* version, const char* rest) {
    return StrCat(R"({"command":"aws","apiVersion":"client.authentication.k8s.io/)", version, "\"",
                  rest, "}");
  };
  const Row rows[] = {
      {"no more than it needs", StrCat("{", kMembers, "}"), nullptr},
      {"null is absent",
       With(R"("args":null,"env":null,"installHint":null,"provideClusterInfo":null)"), nullptr},
      {"unknown members", With(R"("x":{"y":1})"), nullptr},
      {"empty lists", With(R"("args":[],"env":[])"), nullptr},
      {"empty values", With(R"("args":[""],"env":[{"name":"A","value":""}])"), nullptr},
      {"v1beta1 without a mode", of("v1beta1", ""), nullptr},
      {"v1beta1 with one", of("v1beta1", R"(,"interactiveMode":"IfAvailable")"), nullptr},
      {"v1 if available", of("v1", R"(,"interactiveMode":"IfAvailable")"), nullptr},
      {"v1 without a mode", of("v1", ""),
       "it: exec has no interactiveMode, which client.authentication"},
      {"mode of no text", of("v1", R"(,"interactiveMode":true)"),
       "exec.interactiveMode is not a string"},
      {"mode in lower case", of("v1", R"(,"interactiveMode":"never")"), "is \"never\""},
      {"v1beta1 that asks", of("v1beta1", R"(,"interactiveMode":"Always")"),
       "the manager has no terminal for aws"},
      {"no version", R"({"command":"aws"})", "exec.apiVersion is \"\""},
      {"v1alpha1", of("v1alpha1", ""), "Kubernetes 1.24 removed"},
      {"v2", of("v2", ""), "it must be client.authentication.k8s.io/v1 or"},
      {"unknown mode", of("v1", R"(,"interactiveMode":"Often")"), "is \"Often\""},
      {"command of no text",
       R"({"apiVersion":"client.authentication.k8s.io/v1","command":["sEcReT"]})",
       "exec.command is not a string"},
      {"no command",
       R"({"apiVersion":"client.authentication.k8s.io/v1","interactiveMode":"Never"})",
       "exec has no command"},
      {"arguments of no list", With(R"("args":"sEcReT")"), "exec.args is not a list"},
      {"argument that is a number", With(R"("args":["a",7])"),
       "exec.args[1] is not a string: quote it"},
      {"variables of no list", With(R"("env":{"a":"sEcReT"})"), "exec.env is not a list"},
      {"variable with a value only", With(R"("env":[{"value":"sEcReT"}])"),
       "exec.env[0] has no name"},
      {"variable without a value", With(R"("env":[{"name":"a"}])"),
       "exec.env[0] has no value, or a value"},
      {"value that is a number", With(R"("env":[{"name":"a","value":1}])"), "quote it"},
      {"version of another group", R"({"apiVersion":"example.com/v1","command":"aws"})",
       "exec.apiVersion is \"example.com/v1\""},
      {"version of no text", R"({"apiVersion":1,"command":"aws"})",
       "exec.apiVersion is not a string"},
      {"empty command", R"({"apiVersion":"client.authentication.k8s.io/v1","command":""})",
       "exec has no command"},
      {"no object", "[]", "exec is not a map"},
      {"hint of no text", With(R"("installHint":["sEcReT"])"), "exec.installHint is not a string"},
      {"argument of no text", With(R"("args":["sEcReT",null])"), "exec.args[1] is not a string"},
      {"variable of no members", With(R"("env":["sEcReT=1"])"), "exec.env[0] has no name"},
      {"variable without a name", With(R"("env":[{"name":"","value":"sEcReT"}])"), "has no name"},
      {"variable that sets another", With(R"("env":[{"name":"A=B","value":"sEcReT"}])"),
       "has no name"},
      {"second variable", With(R"("env":[{"name":"A","value":"sEcReT"},{"name":"B","value":7}])"),
       "exec.env[1] has no value, or a value that is not a string"},
      {"flag of text", With(R"("provideClusterInfo":"true")"), "neither true nor false"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const absl::StatusOr<ExecPlugin> plugin = Read(row.exec);
    if (row.error == nullptr) {
      EXPECT_TRUE(plugin.ok()) << plugin.status();
      continue;
    }
    const std::string text = plugin.status().ToString();
    EXPECT_THAT(text, HasSubstr("it: exec"));
    EXPECT_THAT(text, HasSubstr(row.error));
    EXPECT_THAT(text, Not(HasSubstr("sEcReT")));
  }
}

TEST(ReadExecPluginTest, TheOrderOfArgumentsAndVariablesIsKept) {
  const auto plugin = Read(With(R"("args":["b","a","b"],"env":[{"name":"B","value":"1"},)"
                                R"({"name":"A","value":"x=y"},{"name":"B","value":"2"}])"));
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  EXPECT_THAT(plugin->args, testing::ElementsAre("b", "a", "b"));
  EXPECT_THAT(plugin->env, testing::ElementsAre(testing::Pair("B", "1"), testing::Pair("A", "x=y"),
                                                testing::Pair("B", "2")));
}

TEST(ReadExecPluginTest, ThePluginSeesOnlyItsClusterAndExtension) {
  struct Row {
    const char* name;
    std::map<std::string, std::string, std::less<>> members;
    const char* extensions;  // null: no extensions
    const char* cluster;     // spec.cluster in the plugin's ExecCredential
  };
  const Row rows[] = {
      {"server and CA",
       {{"server", "https://a"}},
       nullptr,
       R"({"certificate-authority-data":"Q0E=","server":"https://a"})"},
      {"how it is reached",
       {{"server", "https://a"}, {"tls-server-name", "b"}, {"proxy-url", "http://p:1"}},
       nullptr,
       R"({"certificate-authority-data":"Q0E=","proxy-url":"http://p:1","server":"https://a",)"
       R"("tls-server-name":"b"})"},
      {"the CA that is read, not what names it",
       {{"server", "https://a"}, {"certificate-authority", "/ca"}},
       nullptr,
       R"({"certificate-authority-data":"Q0E=","server":"https://a"})"},
      {"extensions that are no list",
       {},
       R"({"name":"client.authentication.k8s.io/exec"})",
       R"({"certificate-authority-data":"Q0E=","server":""})"},
      {"another's extension, and one without content",
       {},
       R"([{"name":"x","extension":1},7,{"name":"client.authentication.k8s.io/exec"}])",
       R"({"certificate-authority-data":"Q0E=","server":""})"},
      {"whatever it holds",
       {},
       R"([{"name":"client.authentication.k8s.io/exec","extension":[1,{"a":null}]}])",
       R"({"certificate-authority-data":"Q0E=","config":[1,{"a":null}],"server":""})"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    KubeconfigEntry cluster;
    cluster.members = row.members;
    if (row.extensions != nullptr) cluster.trees["extensions"] = *ParseJson(row.extensions);
    const auto plugin = Read(With(R"("provideClusterInfo":true)"), cluster);
    ASSERT_TRUE(plugin.ok()) << plugin.status();
    EXPECT_EQ(plugin->info,
              StrCat(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)",
                     R"("spec":{"cluster":)", row.cluster, R"(,"interactive":false}})"));
    const auto without = Read(With(R"("provideClusterInfo":false)"), cluster);
    EXPECT_THAT(without->info, Not(HasSubstr("cluster")));
  }
}

}  // namespace
}  // namespace mandate
