// The exit codes of rbacgen, the same for every command (docs/rbacgen.md#exit-codes): those of
// diff, grep and `kubectl diff`. `kubectl auth can-i` and controller-gen have 0 and 1 alone.
#ifndef RBACGEN_CLI_EXIT_CODES_H_
#define RBACGEN_CLI_EXIT_CODES_H_

namespace mandate::rbacgen {

// Done; yes; no difference; nothing found.
constexpr int kExitOk = 0;
// No; different; something found, such as mistakes in markers.
constexpr int kExitFound = 1;
// Not known: a wrong command line, an input that cannot be read, an output that cannot be written.
constexpr int kExitUnknown = 2;

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_EXIT_CODES_H_
