// A bearer token, or a client certificate instead, and its source.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/call_context.h"
#include "manager/core/secret.h"

namespace mandate {

struct Endpoint;

// Immutable. Print it only by DebugString().
struct Token {
  std::shared_ptr<const Secret> value;
  std::string subject;  // "system:serviceaccount:ns:name", or the file's path; for messages
  // In Clock::TimeNow()'s time; infinite for a token without a known end.
  absl::Time acquired = absl::InfinitePast();
  absl::Time expires = absl::InfiniteFuture();
  // If set, a client certificate instead of a bearer token: connections to this endpoint use it,
  // and `value` is its key.
  std::shared_ptr<const Endpoint> certificate_endpoint = nullptr;

  // "Token(subject, expires …, 1234 bytes)".
  std::string DebugString() const;
};

// Supplies the tokens of one identity. Loop thread only.
class TokenSource {
 public:
  using Callback = absl::AnyInvocable<void(absl::StatusOr<std::shared_ptr<const Token>>) &&>;
  virtual ~TokenSource() = default;

  // A usable token without I/O, or null. A caller never waits while there is one.
  virtual std::shared_ptr<const Token> Cached() = 0;

  // The cached token, or the next one. Concurrent callers share one fetch. `done` runs on the loop
  // exactly once, never inside this call, within `context`.
  virtual void Fetch(const CallContext& context, Callback done) = 0;

  // The server answered 401 to `rejected`: drops the cached token if it is still that one.
  virtual void Invalidate(const Token& rejected) = 0;
};

}  // namespace mandate
