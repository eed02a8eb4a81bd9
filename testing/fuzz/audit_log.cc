// Audit logs of any bytes: the events do not depend on how the log is split into pieces, each event
// stays within the bound, and a valid line at the end is always found.
#include <algorithm>
#include <string>
#include <vector>

#include "rbacgen/audit/event.h"
#include "rbacgen/audit/log_framer.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

constexpr size_t kMaxEvent = 600;
constexpr std::string_view kLast =
    R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"the last one"})";

std::vector<std::string> Read(std::string_view log, size_t piece) {
  std::vector<std::string> seen;
  rbacgen::AuditEvent event;
  rbacgen::LogFramer framer(
      kMaxEvent, {.event =
                      [&](std::string_view text) {
                        Require(text.size() <= kMaxEvent, "an event is within the bound");
                        absl::Status status = rbacgen::ParseAuditEvent(text, &event);
                        if (status.ok()) seen.push_back("event " + event.audit_id);
                        return status;
                      },
                  .damaged =
                      [&](const std::string& name, int64_t line, std::string_view why) {
                        Require(line >= 1 && !why.empty(), "damage has a place and a reason");
                        seen.push_back(name + std::to_string(line));
                      }});
  framer.BeginLog("a");
  for (size_t at = 0; at < log.size(); at += piece) framer.Add(log.substr(at, piece));
  framer.Finish();
  return seen;
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate::fuzz;
  if (size < 1 || size > 4000) return 0;
  const std::string log(Text(data, size).substr(1));
  const auto whole = Read(log, log.size() + 1);
  const size_t piece = 1 + data[0] % 64;
  Require(whole == Read(log, piece), "pieces change nothing", log, piece);
  // The line is added twice, because the first may complete a document or an unfinished line.
  const auto more = Read(log + "\n" + std::string(kLast) + "\n" + std::string(kLast) + "\n", piece);
  Require(std::ranges::find(more, "event the last one") != more.end(),
          "damage does not hide what follows");
  return 0;
}
