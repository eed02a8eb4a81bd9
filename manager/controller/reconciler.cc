#include "manager/controller/reconciler.h"

namespace mandate {
namespace {

constexpr char kTerminalUrl[] = "type.googleapis.com/mandate.TerminalError";

}  // namespace

absl::Status TerminalError(absl::Status status) {
  status.SetPayload(kTerminalUrl, absl::Cord());  // nothing happens to an OK status
  return status;
}

bool IsTerminal(const absl::Status& status) { return status.GetPayload(kTerminalUrl).has_value(); }

}  // namespace mandate
