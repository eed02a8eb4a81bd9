// The bytes of a log, plain or gzipped.
#ifndef RBACGEN_AUDIT_LOG_BYTES_H_
#define RBACGEN_AUDIT_LOG_BYTES_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate::rbacgen {

// Calls `chunk` with the file's bytes in order, each view valid until the call returns; "-" is
// standard input. What begins as gzip does (RFC 1952, several members too) is unpacked. NotFound
// if it cannot be opened, Unavailable if it cannot be read to its end; what came before was given.
absl::Status ReadLogBytes(const std::string& path,
                          const std::function<void(std::string_view)>& chunk);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_AUDIT_LOG_BYTES_H_
