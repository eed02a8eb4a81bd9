#include "manager/object/api_error.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "manager/core/strings.h"
#include "manager/core/utf8.h"
#include "manager/object/envelope.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_text.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

// The payload of the Retry-After header, which may be finer than the Status' whole seconds.
constexpr std::string_view kRetryAfterUrl = "mandate/retry-after-milliseconds";

// Each message of a denial by a webhook begins with this text (k8s.io/apiserver
// pkg/admission/plugin/webhook/errors, ToStatusErr).
constexpr std::string_view kDeniedByWebhook = "admission webhook \"";

// The longest excerpt of a body that is not a Status, such as a proxy's page or a panic.
constexpr size_t kMaxExcerpt = 512;
constexpr size_t kMaxStatusBytes = size_t{1} << 20;
constexpr int kMaxCauses = 50;

struct Code {
  int http;
  absl::StatusCode status;
  std::string_view reason = "Unknown";  // the API machinery's, for a code without one
};
constexpr Code kCodes[] = {
    {400, absl::StatusCode::kInvalidArgument, "BadRequest"},
    {401, absl::StatusCode::kUnauthenticated, "Unauthorized"},
    {403, absl::StatusCode::kPermissionDenied, "Forbidden"},
    {404, absl::StatusCode::kNotFound, "NotFound"},
    {405, absl::StatusCode::kInvalidArgument, "MethodNotAllowed"},
    {406, absl::StatusCode::kInvalidArgument, "NotAcceptable"},
    {408, absl::StatusCode::kDeadlineExceeded},
    {409, absl::StatusCode::kAborted, "Conflict"},
    {410, absl::StatusCode::kOutOfRange, "Gone"},
    {413, absl::StatusCode::kInvalidArgument, "RequestEntityTooLarge"},
    {415, absl::StatusCode::kInvalidArgument, "UnsupportedMediaType"},
    {422, absl::StatusCode::kInvalidArgument, "Invalid"},
    {429, absl::StatusCode::kResourceExhausted, "TooManyRequests"},
    {500, absl::StatusCode::kInternal, "InternalError"},
    {501, absl::StatusCode::kUnimplemented},
    {503, absl::StatusCode::kUnavailable, "ServiceUnavailable"},
    {504, absl::StatusCode::kDeadlineExceeded, "Timeout"},
};

Code Find(int http_code) {
  for (const Code& code : kCodes) {
    if (code.http == http_code) return code;
  }
  // A code below 400 is not an error's.
  return {http_code, http_code >= 500   ? absl::StatusCode::kUnavailable
                     : http_code >= 400 ? absl::StatusCode::kInvalidArgument
                                        : absl::StatusCode::kInternal};
}

absl::StatusCode CodeOf(int http_code, std::string_view reason) {
  if (http_code == 409 && reason == "AlreadyExists") return absl::StatusCode::kAlreadyExists;
  if (http_code == 500 && reason == "ServerTimeout") return absl::StatusCode::kUnavailable;
  return Find(http_code).status;
}

// The text of a protobuf body that cannot be parsed, as one that was cut: its longest part without
// control characters, which is the message.
std::string_view LongestText(std::string_view body) {
  std::string_view longest;
  while (!body.empty()) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    const auto end = std::ranges::find_if(body, is_control);
    const std::string_view text = body.substr(0, static_cast<size_t>(end - body.begin()));
    if (text.size() > longest.size()) longest = text;
    body.remove_prefix(std::min(text.size() + 1, body.size()));
  }
  return longest;
}

// The start of the body in printable characters, cut between characters at kMaxExcerpt.
std::string Excerpt(std::string_view body) {
  std::string out;
  while (!body.empty() && out.size() < kMaxExcerpt) {
    const size_t length = Utf8Length(body);
    const std::string_view c = body.substr(0, std::max<size_t>(length, 1));
    body.remove_prefix(c.size());
    const auto first = static_cast<unsigned char>(c[0]);
    if (length == 0) {
      out += '?';
    } else if (first < 0x20 || first == 0x7F) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  if (!body.empty()) StrAppend(&out, "…");
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// The body as a Status; nullopt if it is not one.
std::optional<ApiStatusProto> ParseStatusBody(std::string_view body) {
  if (body.empty() || body.size() > kMaxStatusBytes) return std::nullopt;
  ApiStatusProto proto;
  if (HasEnvelope(body)) {
    const absl::StatusOr<Envelope> envelope = ParseEnvelope(body);
    if (!envelope.ok() || envelope->kind != "Status" ||
        !DecodeObject(body, Encoding::kProtobuf, proto).ok()) {
      return std::nullopt;
    }
    return proto;
  }
  static constexpr KindInfo kStatusKind = {
      .group = "", .version = "v1", .kind = "Status", .plural = ""};
  const FromJsonOptions options = {.kind = &kStatusKind};
  if (!FromJson(body, proto, options).ok()) return std::nullopt;
  // Any JSON object would parse as a Status without members.
  if (!proto.has_status() && !proto.has_reason() && !proto.has_code()) return std::nullopt;
  return proto;
}

// Bounds the texts that come from the server.
void Abbreviate(ApiStatusProto& proto) {
  if (proto.message().size() > kMaxErrorMessage) {
    proto.set_message(Abbreviated(proto.message(), kMaxErrorMessage));
  }
  if (!proto.has_details()) return;
  auto& causes = *proto.mutable_details()->mutable_causes();
  if (causes.size() > kMaxCauses) causes.DeleteSubrange(kMaxCauses, causes.size() - kMaxCauses);
  for (auto& cause : causes) {
    if (cause.message().size() > kMaxErrorMessage) {
      cause.set_message(Abbreviated(cause.message(), kMaxErrorMessage));
    }
  }
}

absl::Status Build(ApiStatusProto proto, std::optional<absl::Duration> retry_after) {
  Abbreviate(proto);
  std::string message = proto.message();
  if (message.empty()) message = StrCat("HTTP ", proto.code(), " ", proto.reason());
  absl::Status status(CodeOf(proto.code(), proto.reason()), message);
  status.SetPayload(AsAbsl(kApiStatusUrl), absl::Cord(proto.SerializePartialAsString()));
  return retry_after.has_value() ? WithRetryAfter(std::move(status), *retry_after) : status;
}

bool HasCode(const absl::Status& status, int http_code) { return HttpCode(status) == http_code; }

}  // namespace

absl::Status StatusFromResponse(int http_code, std::string_view body,
                                std::optional<absl::Duration> retry_after) {
  ApiStatusProto proto;
  if (std::optional<ApiStatusProto> parsed = ParseStatusBody(body)) {
    proto = *std::move(parsed);
  } else {
    proto.set_status("Failure");
    const std::string excerpt = Excerpt(HasEnvelope(body) ? LongestText(body) : body);
    proto.set_message(excerpt.empty()
                          ? StrCat("the server responded with HTTP ", http_code, " without a body")
                          : StrCat("the server responded with HTTP ", http_code, ": ", excerpt));
  }
  // Clients act on the code of the response, whatever the body says.
  proto.set_code(http_code);
  if (proto.reason().empty()) proto.set_reason(std::string(Find(http_code).reason));
  return Build(std::move(proto), retry_after);
}

absl::Status StatusFromApi(const ApiStatusProto& status,
                           std::optional<absl::Duration> retry_after) {
  ApiStatusProto proto = status;
  if (proto.reason().empty()) proto.set_reason(std::string(Find(proto.code()).reason));
  return Build(std::move(proto), retry_after);
}

std::optional<ApiStatusProto> ApiStatus(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(AsAbsl(kApiStatusUrl));
  ApiStatusProto proto;
  if (!payload.has_value() || !proto.ParsePartialFromString(std::string(*payload))) {
    return std::nullopt;
  }
  return proto;
}

int HttpCode(const absl::Status& status) {
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  return proto.has_value() ? proto->code() : 0;
}

std::string ApiReason(const absl::Status& status) {
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  return proto.has_value() ? proto->reason() : "";
}

std::optional<absl::Duration> RetryAfter(const absl::Status& status) {
  int64_t milliseconds = 0;
  const absl::optional<absl::Cord> header = status.GetPayload(AsAbsl(kRetryAfterUrl));
  if (header.has_value() && absl::SimpleAtoi(std::string(*header), &milliseconds)) {
    return std::min(absl::Milliseconds(milliseconds), kMaxRetryAfter);
  }
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  if (!proto.has_value() || proto->details().retryafterseconds() <= 0) return std::nullopt;
  return std::min(absl::Seconds(proto->details().retryafterseconds()), kMaxRetryAfter);
}

absl::Status WithRetryAfter(absl::Status error, absl::Duration wait) {
  error.SetPayload(AsAbsl(kRetryAfterUrl), absl::Cord(StrCat(absl::ToInt64Milliseconds(wait))));
  return error;
}

bool IsConflict(const absl::Status& status) {
  return HasCode(status, 409) && ApiReason(status) != "AlreadyExists";
}
bool IsForbidden(const absl::Status& status) { return HasCode(status, 403); }
bool IsUnauthorized(const absl::Status& status) { return HasCode(status, 401); }
bool IsGone(const absl::Status& status) { return HasCode(status, 410); }
bool IsInvalid(const absl::Status& status) { return HasCode(status, 422); }
bool IsBadRequest(const absl::Status& status) { return HasCode(status, 400); }
bool IsTooManyRequests(const absl::Status& status) { return HasCode(status, 429); }

bool IsDeniedByWebhook(const absl::Status& status) {
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  return proto.has_value() && proto->message().starts_with(kDeniedByWebhook);
}

bool IsServerErrorAbout(const absl::Status& status, std::string_view name) {
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  return proto.has_value() && proto->details().name() == name && !IsDeniedByWebhook(status);
}

bool IsOutdated(const absl::Status& status, std::string_view name) {
  return (IsNotFound(status) || IsConflict(status)) && IsServerErrorAbout(status, name);
}

bool IsNamespaceTerminating(const absl::Status& status) {
  const std::optional<ApiStatusProto> proto = ApiStatus(status);
  if (!proto.has_value() || proto->code() != 403) return false;
  for (const auto& cause : proto->details().causes()) {
    if (cause.reason() == "NamespaceTerminating") return true;
  }
  return false;
}

}  // namespace mandate
