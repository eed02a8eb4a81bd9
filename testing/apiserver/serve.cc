// Serves the double until it gets a signal, for use with curl and for conformance rows.
//
//   serve --dir /tmp/double     writes kubeconfig, ca.crt and audit.log there, and prints the URL
#include <CLI/CLI.hpp>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "manager/core/clock.h"
#include "manager/core/strings.h"
#include "testing/apiserver/api_server.h"

namespace mandate::apiserver {
namespace {

std::string Kubeconfig(const ApiServer& server) {
  return StrCat(
      "apiVersion: v1\nkind: Config\ncurrent-context: double\nclusters:\n- name: double\n",
      "  cluster:\n    server: ", server.url(),
      "\n    certificate-authority-data: ", absl::Base64Escape(server.ca_pem()),
      "\nusers:\n- name: admin\n  user:\n    token: ", kAdminToken,
      "\ncontexts:\n- name: double\n  context: {cluster: double, user: admin}\n");
}

int Main(int argc, char** argv) {
  std::string dir = ".";
  CLI::App app("Serves a double of the Kubernetes API server on loopback.");
  app.add_option("--dir", dir, "the folder to write kubeconfig, ca.crt and audit.log to")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  sigset_t stop;
  sigemptyset(&stop);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&stop, signal);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  auto audit = std::make_shared<std::ofstream>(dir + "/audit.log");
  ServerOptions options;
  options.access.audit_sink = [audit](const std::string& line) { *audit << line << std::endl; };
  const absl::Time start = Clock::Real().TimeNow();
  const auto server = ApiServer::Create(std::move(options));
  if (!server.ok()) {
    std::cerr << server.status() << "\n";
    return 1;
  }
  const absl::Duration took = Clock::Real().TimeNow() - start;
  std::ofstream(dir + "/ca.crt") << (*server)->ca_pem();
  std::ofstream(dir + "/kubeconfig") << Kubeconfig(**server);
  std::cout << (*server)->url() << " after " << absl::FormatDuration(took) << std::endl;
  int signal = 0;
  sigwait(&stop, &signal);
  return 0;
}

}  // namespace
}  // namespace mandate::apiserver

int main(int argc, char** argv) { return mandate::apiserver::Main(argc, argv); }
