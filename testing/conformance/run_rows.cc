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
  app.add_option("--kubeconfig", flags.cluster.kubeconfig,
                 "the kubeconfig of an administrator of the server");
  app.add_option("--rows", flags.rows, "the folder of the rows")->capture_default_str();
  app.add_option("--filter", flags.filters,
                 "run only the rows that have this text in their \"topic: name\"; repeatable");
  app.add_option("--audit-log", flags.cluster.audit_log,
                 "the path of the server's audit log; for rows that read it");
  app.add_option("--etcd", flags.cluster.etcd,
                 "the URL of the server's etcd; for rows that compact it");
  app.add_option("--etcd-pki", flags.cluster.etcd_pki,
                 "the folder of etcd-ca.crt, etcd.crt and etcd.key");
  app.add_option("--restart-etcd", flags.cluster.restart_etcd,
                 "a command that restarts etcd; for rows that restart it");
  app.add_flag("--uncached", flags.cluster.uncached,
               "tell the rows that the server runs with --watch-cache-sizes=podtemplates#0");
  app.add_flag("--owner-permissions", flags.cluster.owner_permissions,
               "tell the rows that the server runs with "
               "--enable-admission-plugins=OwnerReferencesPermissionEnforcement");
  app.add_option("--crds", flags.cluster.crds,
                 "install the CRDs of this folder; for rows that use them");
  app.add_option("--at-once", flags.suite.at_once, "how many rows run at the same time")
      ->check(CLI::PositiveNumber);
  app.add_option("--run", flags.suite.run, "a text that the names of the rows' namespaces contain");
  app.add_option("--patience", flags.patience_seconds,
                 "how many seconds an event or `eventually` may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--keep-namespaces", flags.suite.keep_namespaces,
               "do not delete the rows' namespaces: the deletion takes longer than the rows");
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
