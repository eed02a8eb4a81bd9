// A token in a file that another process renews: the kubelet's projected volume.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/kubeconfig/token.h"

namespace mandate {

// Reads a small local file. kNotFound, kPermissionDenied or another code for the error; names the
// path.
using FileReader = std::function<absl::StatusOr<std::string>(const std::string& path)>;
FileReader LocalFileReader();

// Reads the file when a caller needs the token and the last reading is old (client-go's
// fileTokenSource: a minute, less 10 s of leeway). Drops white space around the token. A file that
// cannot be read or is empty is an error only while there is no token: an older one is kept,
// because it may still be valid. Loop thread only: the reading is short and local.
class FileTokenSource : public TokenSource {
 public:
  struct Options {
    Loop* loop = nullptr;  // outlives the source
    std::string path = {};
    FileReader reader = LocalFileReader();
    absl::Duration reread_after = absl::Minutes(1);
    absl::Duration leeway = absl::Seconds(10);
    // The wait after a failed reading.
    absl::Duration retry_after = absl::Seconds(1);
    // Called on the loop when the file has another token than before. May be null.
    std::function<void()> on_new = {};
  };
  explicit FileTokenSource(Options options) : options_(std::move(options)) {}

  std::shared_ptr<const Token> Cached() override;
  void Fetch(const CallContext& context, Callback done) override;
  void Invalidate(const Token& rejected) override;

  // Why the last reading failed; OK if it succeeded.
  const absl::Status& last_error() const { return last_error_; }

 private:
  void Read();

  const Options options_;
  std::shared_ptr<const Token> token_;
  absl::Status last_error_;
  absl::Time next_read_ = absl::InfinitePast();
};

// A fixed token: a kubeconfig's `token`. Loop thread only.
class StaticTokenSource : public TokenSource {
 public:
  StaticTokenSource(Loop& loop, std::shared_ptr<const Secret> value, std::string subject)
      : loop_(loop),
        token_(std::make_shared<const Token>(
            Token{.value = std::move(value), .subject = std::move(subject)})) {}

  std::shared_ptr<const Token> Cached() override { return token_; }
  void Fetch(const CallContext& context, Callback done) override;
  void Invalidate(const Token&) override {}

 private:
  Loop& loop_;  // outlives this
  std::shared_ptr<const Token> token_;
};

}  // namespace mandate
