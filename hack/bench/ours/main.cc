// Runs one task of hack/bench on this project's own code: bench TASK [--flag=value]… Prints one
// line of JSON for each result.
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "hack/bench/ours/floor.h"
#include "hack/bench/ours/pods.h"
#include "hack/bench/ours/queueing.h"
#include "hack/bench/ours/watching.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

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
  const size_t equals = argument.find('=');
  const std::string name(argument.substr(0, equals));
  const std::string value(equals == argument.npos ? "" : argument.substr(equals + 1));
  const std::map<std::string, int*> numbers = {{"--identities", &options.rig.components},
                                               {"--objects", &options.objects},
                                               {"--events", &options.events},
                                               {"--keys", &options.keys},
                                               {"--workers", &options.workers},
                                               {"--reads", &options.reads}};
  if (const auto number = numbers.find(name); number != numbers.end()) {
    if (absl::SimpleAtoi(value, number->second)) return absl::OkStatus();
  } else if (name == "--kubeconfig") {
    options.rig.kubeconfig = value;
    return absl::OkStatus();
  } else if (argument == "--json") {
    options.rig.json = true;
    return absl::OkStatus();
  } else if (argument == "--list") {
    options.rig.list = true;
    return absl::OkStatus();
  } else if (argument == "--uncompressed") {
    options.rig.uncompressed = true;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(StrCat("unknown flag ", argument));
}

absl::Status Run(int argc, char** argv) {
  Options options;
  for (int i = 2; i < argc; ++i) RETURN_IF_ERROR(Parse(argv[i], options));
  const std::map<std::string, std::function<absl::Status()>> tasks = {
      {"queue", [&] { return AddGetDone(options.keys); }},
      {"reconciles", [&] { return EmptyReconciles(options.keys, options.workers); }},
      {"sync", [&] { return Sync(options.rig, options.objects); }},
      {"storm", [&] { return Storm(options.rig, options.objects, options.events); }},
      {"latency", [&] { return Latency(options.rig, options.objects, options.events); }},
      {"floor", [&] { return Floor(options.rig.kubeconfig, options.events); }},
      {"pods", [&] { return Pods(options.rig, options.objects, options.reads); }},
      {"identities", [&] { return Identities(options.rig, options.objects); }},
  };
  const auto task = tasks.find(argc > 1 ? argv[1] : "");
  if (task == tasks.end()) return absl::InvalidArgumentError("there is no task of this name");
  return task->second();
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) {
  const absl::Status status = mandate::bench::Run(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "bench: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
