#include "testing/conformance/expect.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/conformance/body.h"
#include "testing/conformance/match.h"

namespace mandate::conformance {
namespace {

absl::Status In(std::string_view what, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string_view message = AsStd(status.message());
  const bool path = message.starts_with(".") || message.starts_with("[");
  return absl::Status(status.code(), AsAbsl(StrCat(what, path ? "" : ": ", message)));
}

absl::Status CheckCode(const Expectation& expect, const Response& response) {
  const bool success = response.code >= 200 && response.code < 300;
  if (expect.code ? response.code == *expect.code : success) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("code: expected ",
                                              expect.code ? StrCat(*expect.code) : "2xx", ", got ",
                                              response.code, ": ", response.body.substr(0, 600)));
}

absl::Status CheckStatus(const Expectation& expect, const Json::Value& body, Variables& variables) {
  Json::Value status;
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["metadata"] = Json::Value(Json::objectValue);
  status["status"] = "Failure";
  status["code"] = *expect.code;
  // Some errors have no reason.
  status["reason"] = expect.reason == "-" ? "<absent>" : expect.reason;
  status["message"] = expect.message;
  return In("Status", MatchJson(status, &body, variables));
}

absl::Status CheckNames(const Json::Value& names, const Json::Value& body, Variables& variables) {
  Json::Value got(Json::arrayValue);
  const Json::Value* items = FindMember(body, "items");
  if (items != nullptr && items->isArray()) {
    for (const Json::Value& item : *items) got.append(item["metadata"]["name"]);
  }
  return In("names", MatchJson(names, &got, variables));
}

}  // namespace

absl::Status CheckResponse(const Expectation& expect, const Response& response,
                           Variables& variables) {
  RETURN_IF_ERROR(CheckCode(expect, response));
  Variables captured = variables;
  for (const auto& [name, value] : expect.headers) {
    const auto found = response.headers.find(name);
    const Json::Value header = found == response.headers.end() ? "" : found->second;
    RETURN_IF_ERROR(
        In(name, MatchJson(value, found == response.headers.end() ? nullptr : &header, captured)));
  }
  if (expect.raw) {
    const Json::Value raw = response.body;
    RETURN_IF_ERROR(In("raw", MatchJson(*expect.raw, &raw, captured)));
  }
  if (!expect.reason.empty() || expect.details || expect.body || expect.names) {
    ASSIGN_OR_RETURN(const Json::Value body,
                     DecodeBody(response.body, response.Header("content-type")));
    if (!expect.reason.empty()) RETURN_IF_ERROR(CheckStatus(expect, body, captured));
    if (expect.details) {
      Json::Value details = *expect.details;
      if (details.isObject()) details["<only>"] = true;
      RETURN_IF_ERROR(In("details", MatchJson(details, FindMember(body, "details"), captured)));
    }
    if (expect.body) RETURN_IF_ERROR(In("body", MatchJson(*expect.body, &body, captured)));
    if (expect.names) RETURN_IF_ERROR(CheckNames(*expect.names, body, captured));
  }
  variables = std::move(captured);
  return absl::OkStatus();
}

absl::Status CheckEvent(const Json::Value& expected, const Json::Value& event,
                        Variables& variables) {
  Json::Value whole;
  if (expected.isObject() && expected.size() == 1) {
    whole["type"] = expected.getMemberNames()[0];
    whole["object"] = expected[expected.getMemberNames()[0]];
  } else if (expected.isString()) {
    const std::vector<std::string> words =
        absl::StrSplit(expected.asString(), absl::MaxSplits(' ', 1));
    whole["type"] = words[0];
    if (words.size() > 1) whole["object"]["metadata"]["name"] = words[1];
  } else {
    return absl::InvalidArgumentError(StrCat("no event: ", WriteJson(expected)));
  }
  absl::Status status = MatchJson(whole, &event, variables);
  if (status.ok()) return status;
  return absl::FailedPreconditionError(
      StrCat("event", AsStd(status.message()), " in ", WriteJson(event).substr(0, 600)));
}

bool IsPassedOver(const Json::Value& event, const Json::Value& expected) {
  const bool bookmark_expected = expected.isString() ? expected.asString() == "BOOKMARK"
                                                     : FindMember(expected, "BOOKMARK") != nullptr;
  if (bookmark_expected || event["type"].asString() != "BOOKMARK") return false;
  return !event["object"]["metadata"].isMember("annotations");
}

}  // namespace mandate::conformance
