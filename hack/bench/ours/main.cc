// Runs one task of hack/bench on this project's own code: bench TASK [--flag=value]… Prints one
// line of JSON for each result.
#include <string_view>

#include "hack/bench/ours/floor.h"
#include "hack/bench/ours/pods.h"
#include "hack/bench/ours/queueing.h"
#include "hack/bench/ours/task.h"
#include "hack/bench/ours/watching.h"
#include "manager/core/status_macros.h"

namespace mandate::bench {
namespace {

struct Options {
  Rig::Options rig;
  int objects = 1000;
  int events = 1000;
  int keys = 1'000'000;
  int workers = 8;
  int reads = 100'000;
};

absl::Status Parse(std::string_view argument, Options& options) {
  const Numbers numbers = {{"--identities", &options.rig.components},
                           {"--objects", &options.objects},
                           {"--events", &options.events},
                           {"--keys", &options.keys},
                           {"--workers", &options.workers},
                           {"--reads", &options.reads}};
  if (argument == "--json") {
    options.rig.json = true;
  } else if (argument == "--list") {
    options.rig.list = true;
  } else if (argument == "--uncompressed") {
    options.rig.uncompressed = true;
  } else {
    return ParseFlag(argument, numbers, options.rig.kubeconfig);
  }
  return absl::OkStatus();
}

absl::Status Run(int argc, char** argv) {
  Options options;
  for (int i = 2; i < argc; ++i) RETURN_IF_ERROR(Parse(argv[i], options));
  const Tasks tasks = {
      {"queue", [&] { return AddGetDone(options.keys); }},
      {"reconciles", [&] { return EmptyReconciles(options.keys, options.workers); }},
      {"sync", [&] { return Sync(options.rig, options.objects); }},
      {"storm", [&] { return Storm(options.rig, options.objects, options.events); }},
      {"latency", [&] { return Latency(options.rig, options.objects, options.events); }},
      {"floor", [&] { return Floor(options.rig.kubeconfig, options.events); }},
      {"pods", [&] { return Pods(options.rig, options.objects, options.reads); }},
      {"identities", [&] { return Identities(options.rig, options.objects); }},
  };
  return RunTask(tasks, argc, argv);
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) {
  return mandate::bench::Exit("bench", mandate::bench::Run(argc, argv));
}
