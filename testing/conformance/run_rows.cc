// Runs the rows of this folder on an API server: docs/conformance.md.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "testing/conformance/audit_log.h"
#include "testing/conformance/cluster_target.h"
#include "testing/conformance/row_parser.h"
#include "testing/conformance/suite.h"

namespace mandate::conformance {
namespace {

struct Flags {
  ClusterOptions cluster;
  std::string rows = "testing/conformance/rows";
  std::vector<std::string> filters;
  SuiteOptions suite;
  double patience_seconds = 20;
  bool list = false;
};

// Whether "topic: name" contains one of the filters. Without filters, all rows run.
bool Wanted(const Row& row, const std::vector<std::string>& filters) {
  const std::string name = StrCat(row.topic, ": ", row.name);
  return filters.empty() || std::any_of(filters.begin(), filters.end(), [&](const auto& filter) {
           return absl::StrContains(name, filter);
         });
}

absl::StatusOr<bool> Run(const Flags& flags) {
  ASSIGN_OR_RETURN(std::vector<Row> rows, LoadRows(flags.rows));
  std::erase_if(rows, [&](const Row& row) { return !Wanted(row, flags.filters); });
  if (flags.list) {
    for (const Row& row : rows) std::cout << row.topic << ": " << row.name << "\n";
    std::cout << rows.size() << " rows\n";
    return true;
  }
  ASSIGN_OR_RETURN(const Target target, ClusterTarget(flags.cluster));
  return Report(RunSuite(rows, target, flags.suite), std::cout);
}

int Main(int argc, char** argv) {
  Flags flags;
  flags.suite.run = absl::StrFormat("%05x", std::random_device()() & 0xfffff);
  CLI::App app("Runs rows, each a behaviour of the Kubernetes API, on a server.");
  app.add_option("--kubeconfig", flags.cluster.kubeconfig, "an administrator's");
  app.add_option("--rows", flags.rows, "the folder of the rows")->capture_default_str();
  app.add_option("--filter", flags.filters,
                 "only rows whose \"topic: name\" holds this text; repeatable");
  app.add_option("--audit-log", flags.cluster.audit_log, "the server's; for rows that look at it");
  app.add_option("--etcd", flags.cluster.etcd, "its URL; for rows that need a compaction");
  app.add_option("--etcd-pki", flags.cluster.etcd_pki,
                 "the folder of etcd-ca.crt, etcd.crt, etcd.key");
  app.add_option("--restart-etcd", flags.cluster.restart_etcd,
                 "a command that does it; for rows that need one");
  app.add_flag("--uncached", flags.cluster.uncached,
               "the server runs with --watch-cache-sizes=podtemplates#0; for rows that need it");
  app.add_option("--crds", flags.cluster.crds,
                 "a folder of CRDs to install; for rows that need them");
  app.add_option("--at-once", flags.suite.at_once, "rows that run at the same time")
      ->check(CLI::PositiveNumber);
  app.add_option("--run", flags.suite.run, "part of the names of the rows' namespaces");
  app.add_option("--patience", flags.patience_seconds,
                 "how many seconds an event or `eventually` may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--keep-namespaces", flags.suite.keep_namespaces,
               "leave the rows' namespaces: removing them takes a cluster longer than the rows");
  app.add_flag("--list", flags.list, "print the rows and run none");
  CLI11_PARSE(app, argc, argv);
  flags.suite.patience = absl::Seconds(flags.patience_seconds);
  const absl::StatusOr<bool> passed = Run(flags);
  if (!passed.ok()) std::cout << passed.status() << "\n\n0 passed, 1 failed\n";
  return passed.ok() && *passed ? 0 : 1;
}

}  // namespace
}  // namespace mandate::conformance

int main(int argc, char** argv) { return mandate::conformance::Main(argc, argv); }
