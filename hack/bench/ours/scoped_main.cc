// Runs one measurement of B15, the goals of the scoped cache: scoped TASK [--flag=value]… Prints
// one line of JSON for each result. The driver answers its questions to the server
// (scoped_server.h).
#include <string_view>

#include "hack/bench/ours/scoped_access.h"
#include "hack/bench/ours/scoped_apply.h"
#include "hack/bench/ours/scoped_commits.h"
#include "hack/bench/ours/scoped_reads.h"
#include "hack/bench/ours/scoped_streams.h"
#include "hack/bench/ours/scoped_switches.h"
#include "hack/bench/ours/task.h"
#include "manager/core/status_macros.h"

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
  const Numbers numbers = {
      {"--size", &options.size},       {"--workload", &options.workload},
      {"--objects", &options.objects}, {"--times", &options.times},
      {"--seed", &options.seed},       {"--milliseconds", &options.milliseconds}};
  return ParseFlag(argument, numbers, options.rig.kubeconfig);
}

absl::Status Run(int argc, char** argv) {
  Options o;
  for (int i = 2; i < argc; ++i) RETURN_IF_ERROR(Parse(argv[i], o));
  const absl::Duration time = absl::Milliseconds(o.milliseconds);
  const Tasks tasks = {
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
  return RunTask(tasks, argc, argv);
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) {
  return mandate::bench::Exit("scoped", mandate::bench::Run(argc, argv));
}
