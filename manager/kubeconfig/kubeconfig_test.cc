#include "manager/kubeconfig/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPem[] = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
// kPem and "KEY" in base64.
constexpr char kPemData[] =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";
constexpr char kGood[] = R"(
apiVersion: v1
kind: Config
preferences: {}
current-context: here
clusters:
- name: c
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority: pki/ca.crt
- name: d
  cluster: {server: "https://d", certificate-authority-data: DATA, tls-server-name: api}
contexts:
- name: here
  context: {cluster: c, user: u, namespace: mandate}
- name: there
  context: {cluster: d, user: cert}
users:
- name: u
  user: {tokenFile: ../token}
- name: cert
  user: {client-certificate-data: DATA, client-key: /pki/key.pem}
- name: static
  user: {token: sEcReT}
)";

using Texts = std::map<std::string, std::string>;  // by path or by name

FileReader ReaderOf(const Texts& files) {
  return [&files](const std::string& path) -> absl::StatusOr<std::string> {
    const auto at = files.find(path);
    if (at != files.end()) return at->second;
    return absl::NotFoundError(StrCat("cannot open ", path));
  };
}

EnvironmentVariables EnvironmentOf(const Texts& variables) {
  return [&variables](const std::string& name) -> std::optional<std::string> {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  };
}

struct KubeconfigTest : testing::Test {
  absl::StatusOr<ClusterConfig> Load(std::vector<std::string> paths = {"/etc/mandate/config"},
                                     std::string context = "") {
    return LoadKubeconfig(paths, {.context = std::move(context),
                                  .reader = ReaderOf(files),
                                  .environment = EnvironmentOf(environment)});
  }
  // The error for kGood with `from` replaced by `to`.
  std::string ErrorWith(const std::string& from, const std::string& to) {
    auto& file = files["/etc/mandate/config"];
    const std::string before = file;
    EXPECT_NE(absl::StrReplaceAll({{from, to}}, &file), 0) << from;
    const auto config = Load();
    file = before;
    EXPECT_FALSE(config.ok()) << to;
    EXPECT_THAT(config.status().ToString(), Not(HasSubstr("sEcReT")));
    return std::string(config.status().message());
  }

  Texts environment;
  Texts files = {{"/etc/mandate/config", absl::StrReplaceAll(kGood, {{"DATA", kPemData}})},
                 {"/etc/mandate/pki/ca.crt", kPem},
                 {"/pki/key.pem", "-----BEGIN PRIVATE KEY-----\n"}};
};

TEST_F(KubeconfigTest, ReadsTheCurrentContextWithPathsRelativeToTheFile) {
  const auto config = Load();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->ns, "mandate");
  EXPECT_EQ(config->endpoint.server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->endpoint.ca_pem, kPem);
  EXPECT_EQ(config->endpoint.tls_server_name, "");
  EXPECT_FALSE(config->endpoint.client_certificate.has_value());
  EXPECT_EQ(std::get<TokenFile>(config->base).path, "/etc/token");
}

TEST_F(KubeconfigTest, ReadsAnotherContextWithEmbeddedData) {
  const auto config = Load({"/etc/mandate/config"}, "there");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->endpoint.ca_pem, kPem);
  EXPECT_EQ(config->endpoint.tls_server_name, "api");
  EXPECT_EQ(config->ns, "");
  const auto& certificate = std::get<ClientCertificate>(config->base);
  EXPECT_EQ(certificate.certificate_pem, kPem);
  EXPECT_EQ(certificate.key_pem->Reveal(), "-----BEGIN PRIVATE KEY-----\n");
}

TEST_F(KubeconfigTest, OnlyACaFileIsReadAgain) {
  EXPECT_EQ(Load()->endpoint.ca_file, "/etc/mandate/pki/ca.crt");
  EXPECT_EQ(Load({"/etc/mandate/config"}, "there")->endpoint.ca_file, "");
}

TEST_F(KubeconfigTest, UsesProxyUrlOrTheEnvironment) {
  EXPECT_EQ(Load()->endpoint.proxy, "");
  environment["HTTPS_PROXY"] = "http://everybodys:3128";
  EXPECT_EQ(Load()->endpoint.proxy, "http://everybodys:3128");
  environment["NO_PROXY"] = "10.0.0.0/8";
  EXPECT_EQ(Load()->endpoint.proxy, "");
  const std::string ca = "certificate-authority: pki/ca.crt";
  absl::StrReplaceAll({{ca, ca + "\n    proxy-url: http://mine:3128"}},
                      &files["/etc/mandate/config"]);
  EXPECT_EQ(Load()->endpoint.proxy, "http://mine:3128");
}

TEST_F(KubeconfigTest, TokenFileBeatsTokenAndATokenAloneIsStatic) {
  std::string& file = files["/etc/mandate/config"];
  file = absl::StrReplaceAll(file, {{"user: u,", "user: static,"}});
  EXPECT_EQ(std::get<StaticToken>(Load()->base).token->Reveal(), "sEcReT");
  file = absl::StrReplaceAll(file, {{"{token: sEcReT}", "{token: sEcReT, tokenFile: t}"}});
  EXPECT_EQ(std::get<TokenFile>(Load()->base).path, "/etc/mandate/t");
}

TEST_F(KubeconfigTest, RejectsUnsafeAndUnsupportedSettings) {
  const std::string ca = "certificate-authority: pki/ca.crt";
  EXPECT_THAT(ErrorWith(ca, "insecure-skip-tls-verify: true"),
              HasSubstr("cluster \"c\" sets insecure-skip-tls-verify"));
  EXPECT_THAT(ErrorWith(ca, "tls-server-name: x"),
              HasSubstr("cluster \"c\" has no CA to verify the server with; add "
                        "certificate-authority-data, or"));
  EXPECT_EQ(ErrorWith(ca, "certificate-authority: ../config2"),
            "/etc/mandate/config: certificate-authority: cannot open /etc/config2; correct the "
            "path, or use certificate-authority-data");
  EXPECT_THAT(ErrorWith(ca, "certificate-authority-data: sEcReT!"), HasSubstr("not base64"));
  EXPECT_THAT(ErrorWith(ca, "certificate-authority-data: QUFB"),
              HasSubstr("not a PEM certificate"));
  EXPECT_THAT(ErrorWith("https://10.0.0.1:6443/", "http://10.0.0.1"), HasSubstr("only https"));
  EXPECT_THAT(ErrorWith("https://10.0.0.1:6443/", "http://u:sEcReT@10.0.0.1"),
              AllOf(HasSubstr("http://***@10.0.0.1"), Not(HasSubstr("sEcReT"))));
  EXPECT_THAT(ErrorWith(ca, ca + "\n    proxy-url: socks5://p"), HasSubstr("\"c\": proxy-url"));
  EXPECT_THAT(ErrorWith(ca, ca + "\n    proxy-url: http://u:sEcReT@p"), HasSubstr("password"));
  const std::string user = "{tokenFile: ../token}";
  EXPECT_THAT(ErrorWith(user, "{auth-provider: {name: gcp}}"), HasSubstr("auth-provider"));
  EXPECT_THAT(ErrorWith(user, "{token: sEcReT, as: admin}"), HasSubstr("has as,"));
  EXPECT_THAT(ErrorWith(user, "{username: a, password: sEcReT}"), HasSubstr("password"));
  EXPECT_THAT(ErrorWith(user, "{}"), HasSubstr("user \"u\" has no credential"));
  EXPECT_THAT(ErrorWith(user, "{token: ''}"), HasSubstr("has no credential"));
  EXPECT_THAT(ErrorWith(user, "{client-key: /pki/key.pem}"), HasSubstr("no client-certificate"));
  EXPECT_THAT(ErrorWith(user, "{client-certificate: pki/ca.crt}"), HasSubstr("no client-key"));
  EXPECT_THAT(
      ErrorWith(user, "{token: sEcReT, client-certificate: pki/ca.crt, client-key: /pki/key.pem}"),
      HasSubstr("keep one"));
}

TEST_F(KubeconfigTest, ReadsAnExecPlugin) {
  std::string& file = files["/etc/mandate/config"];
  file = absl::StrReplaceAll(file, {{"{tokenFile: ../token}", R"(
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: aws
      args: [eks, get-token, "--cluster-name", prod]
      env:
      - {name: AWS_PROFILE, value: prod}
      installHint: |
        Install it.
      provideClusterInfo: true)"},
                                    {"certificate-authority: pki/ca.crt", R"(
    certificate-authority: pki/ca.crt
    tls-server-name: api
    extensions:
    - name: other
      extension: {no: thing}
    - name: client.authentication.k8s.io/exec
      extension: {audience: "06f3", retries: 3, strict: true, zone: 0x, "on": [a, null]})"}});
  const auto config = Load();
  ASSERT_TRUE(config.ok()) << config.status();
  const auto& plugin = std::get<ExecPlugin>(config->base);
  EXPECT_EQ(plugin.api_version, "client.authentication.k8s.io/v1beta1");
  EXPECT_EQ(plugin.command, "aws");
  EXPECT_THAT(plugin.args, ElementsAre("eks", "get-token", "--cluster-name", "prod"));
  EXPECT_THAT(plugin.env, ElementsAre(testing::Pair("AWS_PROFILE", "prod")));
  EXPECT_EQ(plugin.install_hint, "Install it.\n");
  EXPECT_EQ(plugin.origin, "/etc/mandate/config: user \"u\"");
  EXPECT_EQ(plugin.info,
            StrCat(R"({"apiVersion":"client.authentication.k8s.io/v1beta1",)"
                   R"("kind":"ExecCredential","spec":{"cluster":{"certificate-authority-data":")",
                   kPemData,
                   R"(","config":{"audience":"06f3","on":["a",null],"retries":3,"strict":true,)"
                   R"("zone":"0x"},"server":"https://10.0.0.1:6443/","tls-server-name":"api"},)"
                   R"("interactive":false}})"));
}

TEST_F(KubeconfigTest, ResolvesAnExecPluginsPathInTheFolderOfTheFile) {
  std::string& file = files["/etc/mandate/config"];
  const std::string before = file;
  const std::pair<const char*, const char*> rows[] = {
      {"aws", "aws"}, {"./aws", "/etc/mandate/aws"}, {"../bin/aws", "/etc/bin/aws"}, {"/a", "/a"}};
  for (const auto& [command, path] : rows) {
    file = absl::StrReplaceAll(
        before, {{"{tokenFile: ../token}",
                  StrCat("{exec: {apiVersion: client.authentication.k8s.io/v1, command: ", command,
                         ", interactiveMode: Never}}")}});
    const auto config = Load();
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(std::get<ExecPlugin>(config->base).command, path);
    EXPECT_EQ(std::get<ExecPlugin>(config->base).info,
              R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
              R"("spec":{"interactive":false}})");
  }
}

TEST_F(KubeconfigTest, RejectsAnExecPluginThatCannotBeRun) {
  const std::string user = "{tokenFile: ../token}";
  EXPECT_THAT(ErrorWith(user, "{exec: aws}"), HasSubstr("user \"u\": exec is not a map"));
  EXPECT_THAT(ErrorWith(user, "{token: sEcReT, exec: {command: aws}}"), HasSubstr("keep one"));
  // Each list has ten aliases of a list with ten aliases.
  std::string bomb = "{exec: {a: &a [x,x,x,x,x,x,x,x,x,x]";
  for (char c = 'b'; c < 'i'; ++c) {
    StrAppend(&bomb, ", ", std::string(1, c), ": &", std::string(1, c), " [");
    for (int i = 0; i < 10; ++i) StrAppend(&bomb, i > 0 ? "," : "", "*", std::string(1, c - 1));
    bomb += "]";
  }
  EXPECT_THAT(ErrorWith(user, bomb + "}}"), HasSubstr("exec holds more than 10000 values"));
}

TEST_F(KubeconfigTest, ErrorsNameMissingAndMalformedEntries) {
  EXPECT_THAT(ErrorWith("current-context: here", "current-context: gone"),
              HasSubstr("names the current-context \"gone\", which does not exist; known: here, "
                        "there"));
  EXPECT_THAT(ErrorWith("current-context: here", "current-context: hre"),
              HasSubstr("did you mean here?"));
  EXPECT_THAT(ErrorWith("current-context: here", ""),
              HasSubstr("names no current-context; known: here, there"));
  EXPECT_THAT(ErrorWith("contexts:", "old:"), HasSubstr("does not exist; there are none"));
  EXPECT_THAT(ErrorWith("cluster: c,", "cluster: e,"),
              HasSubstr("context \"here\" names the cluster \"e\", which does not exist; known: c, "
                        "d"));
  EXPECT_THAT(ErrorWith("user: u,", ""), HasSubstr("names no user"));
  EXPECT_THAT(ErrorWith("- name: d\n", "- name: c\n"), HasSubstr("two clusters named \"c\""));
  EXPECT_THAT(ErrorWith("kind: Config", "kind: Pod"), HasSubstr("its kind is \"Pod\""));
  EXPECT_THAT(ErrorWith("users:", "users: {a: 1}\nx:"), HasSubstr("users is not a list"));
  EXPECT_THAT(ErrorWith("- name: u\n", "- nme: u\n"), HasSubstr("has no name"));
  files["/etc/mandate/config"] = "token: [sEcReT\n";
  EXPECT_THAT(Load().status().ToString(),
              AllOf(HasSubstr("/etc/mandate/config is not a kubeconfig, because it is not valid "
                              "YAML (line 2: "),
                    HasSubstr("`kubectl config view --kubeconfig=/etc/mandate/config` must")));
  EXPECT_THAT(Load().status().ToString(), Not(HasSubstr("sEcReT")));
  for (const char* text : {"", "just words", "[1]"}) {
    files["/etc/mandate/config"] = text;
    EXPECT_EQ(Load().status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(Load({"/nowhere"}).status().message(),
            "cannot open /nowhere; give the path of a kubeconfig that the manager may read");
}

TEST_F(KubeconfigTest, SeveralFilesAreMergedTheFirstWins) {
  files["/a/first"] = R"({"contexts": [{"name": "here", "context":
      {"cluster": "c", "user": "static", "namespace": "first"}}]})";
  const auto config = Load({"/a/none", "/a/first", "/etc/mandate/config"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->ns, "first");
  EXPECT_EQ(config->endpoint.ca_pem, kPem);
  EXPECT_TRUE(std::holds_alternative<StaticToken>(config->base));
  EXPECT_EQ(Load({"/a/none", "/b/none"}).status().code(), absl::StatusCode::kNotFound);
}

TEST(KubeconfigPathsTest, PrefersTheFlagAndNeverUsesTheHomeFolder) {
  Texts env = {{"HOME", "/root"}};
  const EnvironmentVariables environment = EnvironmentOf(env);
  EXPECT_THAT(KubeconfigPaths("", environment), ElementsAre());
  env["KUBECONFIG"] = "/a::/b";
  EXPECT_THAT(KubeconfigPaths("", environment), ElementsAre("/a", "/b"));
  EXPECT_THAT(KubeconfigPaths("/c:d", environment), ElementsAre("/c:d"));
}

TEST(InClusterConfigTest, ReadsThePodsVolume) {
  Texts env = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  Texts files = {{"/sa/ca.crt", kPem}, {"/sa/namespace", "ns\n"}};
  const InClusterOptions options = {
      .root = "/sa", .environment = EnvironmentOf(env), .reader = ReaderOf(files)};
  const auto config = InClusterConfig(options);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->endpoint.server, "https://10.96.0.1:443");
  EXPECT_EQ(config->endpoint.ca_file, "/sa/ca.crt");
  EXPECT_EQ(config->endpoint.proxy, "");
  EXPECT_EQ(config->ns, "ns");
  EXPECT_EQ(std::get<TokenFile>(config->base).path, "/sa/token");
  env["HTTPS_PROXY"] = "p:3128";
  EXPECT_EQ(InClusterConfig(options)->endpoint.proxy, "http://p:3128");
  env["NO_PROXY"] = "10.96.0.1";
  EXPECT_EQ(InClusterConfig(options)->endpoint.proxy, "");
  env["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(InClusterConfig(options)->endpoint.server, "https://[fd00::1]:443");
  files.erase("/sa/ca.crt");
  EXPECT_EQ(InClusterConfig(options).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(InClusterConfig(options).status().message()), HasSubstr("/sa/ca.crt"));
  env.erase("KUBERNETES_SERVICE_PORT");
  EXPECT_THAT(std::string(InClusterConfig(options).status().message()), HasSubstr("--kubeconfig"));
}

}  // namespace
}  // namespace mandate
