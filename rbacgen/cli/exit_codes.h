// The exit codes of rbacgen, the same for all commands (docs/rbacgen.md#exit-codes) and the same as
// those of diff, grep and `kubectl diff`. `kubectl auth can-i` and controller-gen have only 0 and
// 1.
#pragma once

namespace mandate::rbacgen {

// Done; yes; no difference; no findings.
constexpr int kExitOk = 0;
// No; different; findings, such as mistakes in markers.
constexpr int kExitFound = 1;
// Unknown: an invalid command line, an unreadable input, an unwritable output.
constexpr int kExitUnknown = 2;

}  // namespace mandate::rbacgen
