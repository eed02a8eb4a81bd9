#include "testing/conformance/row_run.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "manager/core/clock.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/conformance/body.h"
#include "testing/conformance/expect.h"
#include "testing/conformance/match.h"
#include "testing/conformance/session.h"

namespace mandate::conformance {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(20);  // between two tries

struct Stream {
  std::unique_ptr<Exchange> exchange;
  bool asks_for_bookmarks = false;
};

class RowRun {
 public:
  explicit RowRun(const RowContext& context)
      : context_(context), session_(context.target, context.http, context.id) {}
  ~RowRun() {
    streams_.clear();
    session_.CleanUp();
  }
  RowRun(const RowRun&) = delete;
  RowRun& operator=(const RowRun&) = delete;

  absl::Status Run(const Row& row) {
    variables_["ns"] = context_.id;
    variables_["server"] = context_.target.connection.server;
    for (const auto& [name, value] : row.let) {
      ASSIGN_OR_RETURN(const std::string text, Substitute(value, variables_));
      variables_[name] = text;
    }
    RETURN_IF_ERROR(session_.CreateNamespace());
    for (const Step& step : row.steps) {
      if (const absl::Status status = RunEach(step); !status.ok()) {
        return absl::FailedPreconditionError(
            StrCat(row.file, ":", step.line, ": ", AsStd(status.message())));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status RunEach(const Step& step) {
    if (step.each.empty()) return RunOnce(step);
    for (const std::string& value : step.each) {
      ASSIGN_OR_RETURN(variables_["it"], Substitute(value, variables_));
      RETURN_IF_ERROR(RunOnce(step));
    }
    return absl::OkStatus();
  }

  absl::Status RunOnce(const Step& step) {
    switch (step.action) {
      case Action::kRequest:
        return step.eventually ? Eventually([&] { return Send(step); }) : Send(step);
      case Action::kWatch:
        return step.eventually ? Eventually([&] { return Watch(step); }) : Watch(step);
      case Action::kEvents:
        return Events(step);
      case Action::kClose:
        return streams_.erase(step.subject) == 1 ? absl::OkStatus() : NoStream(step);
      case Action::kAllow:
      case Action::kAllowAll: {
        ASSIGN_OR_RETURN(const Json::Value rules, SubstituteAll(step.value, variables_));
        return session_.Allow(step.subject, rules, step.action == Action::kAllowAll);
      }
      case Action::kSet:
        for (const std::string& name : step.value.getMemberNames()) {
          ASSIGN_OR_RETURN(variables_[name], Substitute(step.value[name].asString(), variables_));
        }
        return absl::OkStatus();
      case Action::kCompact: {
        ASSIGN_OR_RETURN(const std::string version, Substitute(step.value.asString(), variables_));
        return context_.target.compact(version);
      }
      case Action::kRestart:
        return context_.target.restart_etcd();
    }
    return absl::InternalError("an unknown action");
  }

  template <class Try>
  absl::Status Eventually(Try attempt) {
    const absl::Time deadline = Clock::Real().TimeNow() + context_.patience;
    for (;;) {
      const absl::Status status = attempt();
      if (status.ok() || Clock::Real().TimeNow() > deadline) return status;
      context_.http.Await([] { return false; }, kPause);
    }
  }

  absl::StatusOr<Request> Build(const Step& step) {
    Request request{.method = step.method,
                    .target = "",
                    .headers = {},
                    .body = "",
                    .has_body = step.has_body,
                    .certificate = false};
    ASSIGN_OR_RETURN(request.target, Substitute(step.target, variables_));
    std::string content_type;
    bool accepts = false;
    for (const auto& [name, value] : step.headers) {
      ASSIGN_OR_RETURN(const std::string text, Substitute(value, variables_));
      request.headers.emplace_back(name, text);
      const std::string lower = absl::AsciiStrToLower(name);
      if (lower == "content-type") content_type = text;
      accepts = accepts || lower == "accept";
    }
    if (!accepts) request.headers.emplace_back("Accept", "application/json");
    if (step.has_body) {
      if (content_type.empty()) {
        content_type = "application/json";
        request.headers.emplace_back("Content-Type", content_type);
      }
      ASSIGN_OR_RETURN(const Json::Value body, SubstituteAll(step.body, variables_));
      ASSIGN_OR_RETURN(request.body, EncodeBody(body, content_type));
    }
    ASSIGN_OR_RETURN(const std::string token, Substitute(step.token, variables_));
    ASSIGN_OR_RETURN(const std::string as, Substitute(step.as, variables_));
    RETURN_IF_ERROR(session_.Authenticate(as, token, request));
    return request;
  }

  absl::Status Send(const Step& step) {
    ASSIGN_OR_RETURN(const Request request, Build(step));
    ASSIGN_OR_RETURN(const Response response, context_.http.Send(request));
    session_.Note(request, response);
    return Named(request, Check(step.expect, response));
  }

  static absl::Status Named(const Request& request, const absl::Status& status) {
    if (status.ok()) return status;
    return absl::FailedPreconditionError(
        StrCat(request.method, " ", request.target, ": ", AsStd(status.message())));
  }

  absl::Status Check(const Expectation& expect, const Response& response) {
    RETURN_IF_ERROR(CheckResponse(expect, response, variables_));
    return expect.audit ? CheckAudit(*expect.audit, response) : absl::OkStatus();
  }

  // Waits for the events, because the log is written after the response.
  absl::Status CheckAudit(const Json::Value& audit, const Response& response) {
    const std::string id = response.Header("audit-id");
    if (id.empty()) return absl::FailedPreconditionError("no Audit-Id header");
    return Eventually([&] {
      const Json::Value events = context_.audit_log->EventsOf(id);
      Json::Value expected = audit;
      if (audit.isObject()) {
        expected = Json::Value(Json::arrayValue);
        expected.append("<some>");
        expected.append(audit);
      }
      // If there is a single event, the error tells the difference.
      if (audit.isObject() && events.size() == 1) {
        return MatchJson(audit, &events[0], variables_);
      }
      return MatchJson(expected, &events, variables_);
    });
  }

  absl::Status Watch(const Step& step) {
    ASSIGN_OR_RETURN(const Request request, Build(step));
    std::unique_ptr<Exchange> stream = context_.http.Start(request);
    const bool headed = context_.http.Await(
        [&] {
          const bool refused = stream->headed() && stream->response().code >= 300;
          return stream->ended() || (stream->headed() && !refused);
        },
        context_.patience);
    if (!headed) return Named(request, absl::FailedPreconditionError("no answer"));
    if (!stream->status().ok()) return Named(request, stream->status());
    RETURN_IF_ERROR(Named(request, Check(step.expect, stream->response())));
    streams_[step.subject] = {std::move(stream),
                              absl::StrContains(request.target, "allowWatchBookmarks=true")};
    return absl::OkStatus();
  }

  absl::Status NoStream(const Step& step) const {
    return absl::InvalidArgumentError(StrCat("no watch named ", step.subject));
  }

  absl::Status Events(const Step& step) {
    const auto found = streams_.find(step.subject);
    if (found == streams_.end()) return NoStream(step);
    for (Json::ArrayIndex i = 0; i < step.value.size(); ++i) {
      const absl::Status status = NextEvent(step.value[i], found->second);
      if (!status.ok()) {
        return absl::FailedPreconditionError(
            StrCat("events ", step.subject, "[", i, "]: ", AsStd(status.message())));
      }
    }
    return absl::OkStatus();
  }

  absl::Status NextEvent(const Json::Value& expected, Stream& watch) {
    Exchange& stream = *watch.exchange;
    absl::StatusOr<std::optional<Json::Value>> event = std::nullopt;
    const std::string type = stream.response().Header("content-type");
    do {
      context_.http.Await(
          [&] {
            event = TakeEvent(stream.response().body, type);
            return !event.ok() || event->has_value() || stream.ended();
          },
          context_.patience);
      RETURN_IF_ERROR(event.status());
    } while (event->has_value() && watch.asks_for_bookmarks && IsPassedOver(**event, expected));
    const bool end = expected.isString() && expected.asString() == "end";
    if (event->has_value()) {
      return end ? absl::FailedPreconditionError(
                       StrCat("expected the end, got ", WriteJson(**event).substr(0, 600)))
                 : CheckEvent(expected, **event, variables_);
    }
    if (end && stream.ended()) return stream.status();
    return absl::FailedPreconditionError(
        StrCat("expected ", end ? "the end" : WriteJson(expected),
               stream.ended() ? ", but the stream ended" : ", but nothing came"));
  }

  const RowContext& context_;
  Session session_;
  Variables variables_;
  std::map<std::string, Stream> streams_;
};

}  // namespace

absl::Status RunRow(const Row& row, const RowContext& context) { return RowRun(context).Run(row); }

}  // namespace mandate::conformance
