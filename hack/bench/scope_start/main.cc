// How long the scope controllers take to start on a large cluster, and how long the loop is busy in
// one turn meanwhile: once with everything to do, once with nothing to do. The double serves the
// cluster over HTTPS, in the same process.
//
//   hack/bazel run --config=release //hack/bench/scope_start -- --namespaces=3000 --instances=1000
//   --roles=800
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <thread>

#include "hack/bench/scope_start/scope_cluster.h"
#include "manager/core/clock.h"
#include "manager/core/thread_pool.h"
#include "manager/loop_call.h"
#include "manager/transport/event_loop.h"
#include "manager/transport/http_transport.h"
#include "testing/simulation/scope/installed.h"
#include "testing/simulation/scope/product.h"

namespace mandate::bench {
namespace {

constexpr int kThreads = 12;
constexpr absl::Duration kLimit = absl::Minutes(5);

void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

// False when the limit passed first.
template <class Condition>
bool WaitUntil(const Condition& condition) {
  const absl::Time end = Clock::Real().TimeNow() + kLimit;
  while (!condition()) {
    if (Clock::Real().TimeNow() > end) return false;
    Pause();
  }
  return true;
}

double Reconciled(simulation::Product& product) {
  double count = 0;
  for (const auto& family : product.metrics().registry().Collect()) {
    if (family.name != "controller_runtime_reconcile_total") continue;
    for (const auto& metric : family.metric) count += metric.counter.value;
  }
  return count;
}

// One life of the product, until `done`.
class Life {
 public:
  explicit Life(ScopeCluster& cluster) : loop_(*EventLoop::Create()) {
    transport_ = *HttpTransport::Create(*loop_, {});
    Endpoint endpoint;
    endpoint.server = cluster.server().url();
    endpoint.ca_pem = cluster.server().ca_pem();
    start_ = Clock::Real().TimeNow();
    CallOnLoop(*loop_, [&] {
      product_ = std::make_unique<simulation::Product>(
          simulation::Product::Options{.loop = *loop_,
                                       .transport = *transport_,
                                       .workers = pool_,
                                       .endpoint = endpoint,
                                       .seed = 1,
                                       .ns = simulation::kManagerNamespace,
                                       .base_token = simulation::kBaseToken});
      product_->Start();
    });
  }
  ~Life() {
    (void)product_->Stop(Clock::Real().TimeNow() + absl::Seconds(30));
    CallOnLoop(*loop_, [&] {
      product_.reset();
      transport_.reset();
    });
    loop_->Stop();
  }

  simulation::Product& product() { return *product_; }
  void Print(const char* what, bool done, size_t writes) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "%-28s %s %8.2f s   longest turn of the loop %8.1f ms   writes %7zu   peak rss %5ld MiB\n",
        what, done ? "      " : "NOT in", absl::ToDoubleSeconds(Clock::Real().TimeNow() - start_),
        absl::ToDoubleMilliseconds(loop_->stats().longest_run), writes, usage.ru_maxrss / 1024);
    std::fflush(stdout);
  }

 private:
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<HttpTransport> transport_;
  ThreadPool pool_{kThreads};
  std::unique_ptr<simulation::Product> product_;
  absl::Time start_;
};

int Main(int argc, char** argv) {
  ScopeSize size;
  CLI::App app("How long the scope controllers take to start on a large cluster.");
  app.add_option("--namespaces", size.namespaces)->capture_default_str();
  app.add_option("--instances", size.instances)->capture_default_str();
  app.add_option("--roles", size.roles, "two for each template")->capture_default_str();
  app.add_option("--per-instance", size.per_instance, "namespaces")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  auto cluster = ScopeCluster::Create(size);
  if (!cluster.ok()) {
    std::fprintf(stderr, "scope_start: %s\n", std::string(cluster.status().message()).c_str());
    return 1;
  }
  bool all = true;
  {
    Life first(**cluster);
    const bool done = WaitUntil([&] { return (*cluster)->scoped() == size.instances; });
    first.Print("with everything to do", done, (*cluster)->writes());
    all = done;
  }
  const size_t before = (*cluster)->writes();
  const double objects = size.instances + size.roles / 2;
  {
    Life second(**cluster);
    const bool done = WaitUntil(
        [&] { return second.product().Ready().ok() && Reconciled(second.product()) >= objects; });
    second.Print("with nothing to do", done, (*cluster)->writes() - before);
    all = all && done;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) { return mandate::bench::Main(argc, argv); }
