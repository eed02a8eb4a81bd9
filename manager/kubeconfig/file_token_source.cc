#include "manager/kubeconfig/file_token_source.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/read_file.h"
#include "manager/core/strings.h"

namespace mandate {

FileReader LocalFileReader() {
  constexpr size_t kMaxBytes = 4 << 20;  // a credential is smaller
  return [](const std::string& path) { return ReadFile(path, kMaxBytes); };
}

void FileTokenSource::Read() {
  const absl::Time now = options_.loop->clock().TimeNow();
  next_read_ = now + options_.retry_after;
  absl::StatusOr<std::string> content = options_.reader(options_.path);
  if (!content.ok()) {
    last_error_ = absl::UnavailableError(
        StrCat("the token file cannot be read: ", AsStd(content.status().message()),
               "; check that it exists and that the manager may read it"));
    return;
  }
  const Secret whole(*std::move(content));
  std::string trimmed(absl::StripAsciiWhitespace(AsAbsl(whole.Reveal())));
  if (trimmed.empty()) {
    last_error_ = absl::UnavailableError(
        StrCat("the token file ", options_.path,
               " is empty; check that the process that writes it is running"));
    return;
  }
  last_error_ = absl::OkStatus();
  next_read_ = now + options_.reread_after - options_.leeway;
  Secret value(std::move(trimmed));
  // If the token is the same, its object is kept, with the time at which the token was first read.
  if (token_ != nullptr && *token_->value == value) return;
  if (token_ != nullptr && options_.on_new) options_.loop->Post(options_.on_new);
  token_ =
      std::make_shared<const Token>(Token{.value = std::make_shared<const Secret>(std::move(value)),
                                          .subject = options_.path,
                                          .acquired = now});
}

std::shared_ptr<const Token> FileTokenSource::Cached() {
  if (options_.loop->clock().TimeNow() >= next_read_) Read();
  return token_;
}

void FileTokenSource::Fetch(const CallContext&, Callback done) {
  absl::StatusOr<std::shared_ptr<const Token>> result = Cached();
  if (*result == nullptr) result = last_error_;
  options_.loop->Post([done = std::move(done), result = std::move(result)]() mutable {
    std::move(done)(std::move(result));
  });
}

void FileTokenSource::Invalidate(const Token& rejected) {
  // The token is kept until the file has another: the server's failure may be temporary.
  if (token_ != nullptr && *token_->value == *rejected.value) next_read_ = absl::InfinitePast();
}

void StaticTokenSource::Fetch(const CallContext&, Callback done) {
  loop_.Post(
      [done = std::move(done), token = token_]() mutable { std::move(done)(std::move(token)); });
}

}  // namespace mandate
