// Plays random programs on a real API server: hack/scoped_model_test.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "manager/cache/testing/real/real_program.h"
#include "manager/cache/testing/real/real_server.h"
#include "manager/core/strings.h"

namespace mandate::model {
namespace {

// Asks the process that has started this one, over standard output and input.
std::string AskParent(const std::string& what) {
  std::cout << "ask " << what << std::endl;
  std::string answer;
  if (!std::getline(std::cin, answer)) return "no answer";
  return answer;
}

int Run(RealServer::Options server_options, RealProgram::Options options) {
  const std::string names = "abcd";
  for (size_t i = 0; i < 2 + options.seed % 3; ++i) {
    server_options.components.push_back(names.substr(i, 1));
  }
  auto server = RealServer::Create(std::move(server_options));
  if (!server.ok()) {
    std::cout << "error " << server.status().ToString() << std::endl;
    return 2;
  }
  RealProgram program(**server, std::move(options));
  const absl::Status status = program.Run();
  for (const std::string& text : program.Violations()) {
    std::cout << "violation " << text << std::endl;
  }
  if (!status.ok()) std::cout << "error " << status.ToString() << std::endl;
  std::cout << "totals " << program.totals().ToString() << std::endl;
  if (!status.ok()) return 2;
  return program.Violations().empty() ? 0 : 1;
}

}  // namespace
}  // namespace mandate::model

int main(int argc, char** argv) {
  mandate::model::RealServer::Options server;
  mandate::model::RealProgram::Options program;
  bool alone = false;
  CLI::App app("Plays a random program on a real API server, next to the model of the cache.");
  app.add_option("--kubeconfig", server.kubeconfig,
                 "the kubeconfig of an administrator with a client certificate")
      ->required();
  app.add_option("--server", server.server, "the URL that the components use");
  app.add_option("--seed", program.seed, "the choice of the program");
  app.add_option("--rounds", program.rounds, "how often all comes to rest");
  app.add_option("--steps", program.steps, "the steps of each round");
  app.add_flag("--alone", alone, "nobody answers requests such as \"ask restart\"");
  CLI11_PARSE(app, argc, argv);
  if (!alone) program.owner = mandate::model::AskParent;
  return mandate::model::Run(std::move(server), std::move(program));
}
