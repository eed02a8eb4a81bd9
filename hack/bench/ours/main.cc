// One task of hack/bench on this project's own code. Prints one line of JSON for each figure.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "hack/bench/ours/queueing.h"
#include "hack/bench/ours/watching.h"

namespace mandate::bench {
namespace {

int Main(int argc, char** argv) {
  CLI::App app("Runs one task of hack/bench.");
  std::string task;
  Rig::Options rig;
  int objects = 1000;
  int events = 1000;
  int keys = 1'000'000;
  int workers = 8;
  app.add_option("task", task)->required();
  app.add_option("--kubeconfig", rig.kubeconfig);
  app.add_flag("--json", rig.json);
  app.add_flag("--list", rig.list);
  app.add_option("--identities", rig.components);
  app.add_option("--objects", objects);
  app.add_option("--events", events);
  app.add_option("--keys", keys);
  app.add_option("--workers", workers);
  CLI11_PARSE(app, argc, argv);
  const std::map<std::string, std::function<absl::Status()>> tasks = {
      {"queue", [&] { return AddGetDone(keys); }},
      {"reconciles", [&] { return EmptyReconciles(keys, workers); }},
      {"sync", [&] { return Sync(rig, objects); }},
      {"storm", [&] { return Storm(rig, objects, events); }},
      {"latency", [&] { return Latency(rig, objects, events); }},
      {"identities", [&] { return Identities(rig, objects); }},
  };
  const auto found = tasks.find(task);
  const absl::Status status = found != tasks.end()
                                  ? found->second()
                                  : absl::InvalidArgumentError("there is no task of this name");
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench %s: %s\n", task.c_str(), std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) { return mandate::bench::Main(argc, argv); }
