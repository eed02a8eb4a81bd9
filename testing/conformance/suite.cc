#include "testing/conformance/suite.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "manager/core/clock.h"
#include "manager/core/strings.h"
#include "testing/conformance/audit_log.h"
#include "testing/conformance/http.h"
#include "testing/conformance/row_run.h"
#include "testing/conformance/session.h"

namespace mandate::conformance {
namespace {

std::vector<std::string> Missing(const Row& row, const Target& target) {
  std::vector<std::string> missing;
  for (const std::string& need : row.needs) {
    const bool there =
        (need == "audit" && target.audit_log) || (need == "compaction" && target.compact) ||
        (need == "restart" && target.restart_etcd) || (need == "uncached" && target.uncached) ||
        (need == "owners" && target.owner_permissions) || (need == "crds" && target.crds);
    if (!there) missing.push_back(need);
  }
  return missing;
}

class Suite {
 public:
  Suite(const Target& target, const SuiteOptions& options, std::vector<RowResult>& results)
      : target_(target), options_(options), results_(results) {
    if (target.audit_log) audit_log_ = std::make_unique<AuditLog>(target.audit_log);
  }

  // Called after all rows: emptying so many namespaces would slow the rows down.
  void RemoveNamespaces() {
    HttpClient http(target_.connection);
    for (size_t i = 0; i < results_.size(); ++i) {
      if (!results_[i].skipped) Session(target_, http, IdOf(i)).RemoveNamespace();
    }
  }

  void Run(bool alone) {
    next_ = 0;
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < (alone ? 1 : options_.at_once); ++i) {
      threads.emplace_back([this, alone] { Work(alone); });
    }
  }

 private:
  std::string IdOf(size_t row) const { return StrCat("row-", options_.run, "-", row); }

  void Work(bool alone) {
    HttpClient http(target_.connection);
    for (size_t i; (i = next_++) < results_.size();) {
      RowResult& result = results_[i];
      if (result.skipped || result.row->alone != alone) continue;
      const absl::Time start = Clock::Real().TimeNow();
      const bool must_fail = target_.is_double && !result.row->not_double.empty();
      result.status = RunRow(
          *result.row, {.target = target_,
                        .http = http,
                        .audit_log = audit_log_.get(),
                        .id = IdOf(i),
                        .patience = must_fail ? options_.hopeless_patience : options_.patience});
      if (must_fail) Excuse(result);
      result.took = Clock::Real().TimeNow() - start;
    }
  }

  // Reports a row with a not-double line as skipped if it fails, and as failed if it passes: then
  // the line must be removed.
  static void Excuse(RowResult& result) {
    result.skipped = !result.status.ok();
    result.status =
        result.skipped
            ? absl::UnimplementedError(StrCat("not the double: ", result.row->not_double))
            : absl::FailedPreconditionError("the double does this: remove its not-double line");
  }

  const Target& target_;
  const SuiteOptions& options_;
  std::vector<RowResult>& results_;  // each thread writes to its own
  std::unique_ptr<AuditLog> audit_log_;
  std::atomic<size_t> next_ = 0;
};

}  // namespace

std::vector<RowResult> RunSuite(const std::vector<Row>& rows, const Target& target,
                                const SuiteOptions& options) {
  std::vector<RowResult> results;
  for (const Row& row : rows) {
    const std::vector<std::string> missing = Missing(row, target);
    RowResult& result = results.emplace_back();
    result.row = &row;
    result.skipped = !missing.empty();
    if (result.skipped) {
      result.status = absl::UnavailableError(StrCat(
          "the row needs ", absl::StrJoin(missing, " and "), ", which this run does not have"));
    }
  }
  Suite suite(target, options, results);
  suite.Run(false);
  suite.Run(true);
  if (!options.keep_namespaces) suite.RemoveNamespaces();
  return results;
}

bool Report(const std::vector<RowResult>& results, std::ostream& out) {
  struct Counts {
    int passed = 0, failed = 0, skipped = 0;
    absl::Duration took;
  };
  std::map<std::string, Counts> topics;
  Counts sum;
  for (const RowResult& r : results) {
    for (Counts* counts : {&topics[r.row->topic], &sum}) {
      ++(r.skipped ? counts->skipped : r.status.ok() ? counts->passed : counts->failed);
      counts->took += r.took;
    }
    if (r.status.ok()) continue;
    out << (r.skipped ? "SKIPPED " : "FAILED ") << r.row->topic << ": " << r.row->name << "\n  "
        << AsStd(r.status.message()) << "\n";
  }
  out << absl::StrFormat("\n%-20s %7s %7s %8s %8s\n", "topic", "passed", "failed", "skipped",
                         "seconds");
  for (const auto& [topic, c] : topics) {
    out << absl::StrFormat("%-20s %7d %7d %8d %8.1f\n", topic, c.passed, c.failed, c.skipped,
                           absl::ToDoubleSeconds(c.took));
  }
  out << absl::StrFormat("\n%d passed, %d failed\n", sum.passed, sum.failed);
  return sum.failed == 0 && sum.passed > 0;
}

}  // namespace mandate::conformance
