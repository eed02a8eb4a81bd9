// Runs one measurement of B15, the goals of the scoped cache: scoped TASK [--flag=value]… Prints
// one line of JSON for each result. The driver answers its questions to the server
// (scoped_server.h).
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "hack/bench/ours/scoped_access.h"
#include "hack/bench/ours/scoped_apply.h"
#include "hack/bench/ours/scoped_commits.h"
#include "hack/bench/ours/scoped_reads.h"
#include "hack/bench/ours/scoped_streams.h"
#include "hack/bench/ours/scoped_switches.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::bench {
namespace {

struct Options {
  Rig::Options rig;
  int size = 1000;  // owners and namespaces
  int workload = 1;
  int objects = 5;  // of each namespace and kind
  int times = 1000;
  int milliseconds = 2000;
  int seed = 1;
};

absl::Status Parse(std::string_view argument, Options& options) {
  const size_t equals = argument.find('=');
  const std::string name(argument.substr(0, equals));
  const std::string value(equals == argument.npos ? "" : argument.substr(equals + 1));
  const std::map<std::string, int*> numbers = {
      {"--size", &options.size},       {"--workload", &options.workload},
      {"--objects", &options.objects}, {"--times", &options.times},
      {"--seed", &options.seed},       {"--milliseconds", &options.milliseconds}};
  if (const auto number = numbers.find(name); number != numbers.end()) {
    if (absl::SimpleAtoi(value, number->second)) return absl::OkStatus();
  } else if (name == "--kubeconfig") {
    options.rig.kubeconfig = value;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(StrCat("unknown flag ", argument));
}

absl::Status Run(int argc, char** argv) {
  Options o;
  for (int i = 2; i < argc; ++i) RETURN_IF_ERROR(Parse(argv[i], o));
  const absl::Duration time = absl::Milliseconds(o.milliseconds);
  const std::map<std::string, std::function<absl::Status()>> tasks = {
      {"streams", [&] { return Streams(o.rig, o.workload, o.size); }},
      {"attached", [&] { return AttachedDemands(o.rig, o.size); }},
      {"idle", [&] { return Idle(o.rig, o.size, time); }},
      {"renewals", [&] { return Renewals(o.rig, o.size, time); }},
      {"stop", [&] { return Stop(o.rig, o.size); }},
      {"reads", [&] { return FirstAndWarmReads(o.rig, o.size, o.times); }},
      {"commits", [&] { return Commits(o.rig, o.size, o.times); }},
      {"additions", [&] { return Additions(o.size, o.size * 16); }},
      {"cycles", [&] { return Cycles(o.rig, o.size, o.times); }},
      {"switches",
       [&] { return Switches(o.rig, o.objects, o.times, static_cast<uint64_t>(o.seed)); }},
      {"hinted", [&] { return RevokedWithHint(o.rig, o.size, o.times); }},
      {"unhinted", [&] { return RevokedWithoutHint(o.rig, o.size, time, time); }},
      {"denied", [&] { return AllDenied(o.rig, o.size, absl::Seconds(5), time); }},
      {"apply", [&] { return ApplyAndRoute(o.times, false, false); }},
      {"apply-parsing", [&] { return ApplyAndRoute(o.times, true, false); }},
      {"apply-selectors", [&] { return ApplyAndRoute(o.times, false, true); }},
  };
  const auto task = tasks.find(argc > 1 ? argv[1] : "");
  if (task == tasks.end()) return absl::InvalidArgumentError("there is no task of this name");
  return task->second();
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) {
  const absl::Status status = mandate::bench::Run(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "scoped: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
