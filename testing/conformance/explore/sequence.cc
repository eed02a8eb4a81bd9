#include "testing/conformance/explore/sequence.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "manager/core/strings.h"
#include "testing/conformance/body.h"
#include "testing/conformance/explore/normalise.h"

namespace mandate::conformance::explore {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(2);       // for events that only one side has
constexpr absl::Duration kSilence = absl::Milliseconds(40);  // for events that neither side has
constexpr absl::Duration kHeadPatience = absl::Seconds(10);  // for the head of a stream
constexpr int kUnimplemented = 501;

bool Writes(const Step& step) { return step.method != "GET" && step.method != "HEAD"; }

// Whether it is a path such as "/livez" or "/apis/GROUP", where the server ignores the body.
bool ReadsNoBody(const Step& step) {
  const auto parts = std::count(step.target.begin(), step.target.end(), '/');
  return parts == 1 || (absl::StartsWith(step.target, "/apis/") && parts <= 3);
}

struct Stream {
  std::unique_ptr<Exchange> exchange;
  std::string type;
  std::vector<std::string> events;
  std::string broken;  // why it cannot be read further
};

std::string NoAnswer(const absl::Status& status) {
  return StrCat("no answer: ", AsStd(status.message()));
}

// The conversation with one server during one sequence.
class Talk {
 public:
  Talk(Side& side, const std::string& ns) : side_(side), said_(ns) {}

  Request Ask(const Step& step) const {
    Request request{.method = step.method,
                    .target = said_.Fill(step.target),
                    .headers = {},
                    .body = said_.Fill(step.body),
                    .has_body = step.has_body,
                    .certificate = step.as == "admin" && side_.certificate};
    if (!step.accept.empty()) request.headers.emplace_back("Accept", step.accept);
    if (!step.content.empty()) request.headers.emplace_back("Content-Type", step.content);
    request.headers.emplace_back("User-Agent", "explore");
    const auto token = side_.tokens.find(step.as);
    if (token != side_.tokens.end()) {
      request.headers.emplace_back("Authorization", "Bearer " + token->second);
    }
    return request;
  }

  // A failed connection counts as an answer, too.
  std::string Send(const Step& step) {
    absl::StatusOr<Response> response = side_.http->Send(Ask(step));
    // A server that rejects a request may end the stream before it has read the body; occasionally
    // the client reports this as a failure.
    for (int again = 0; !response.ok() && again < 5; ++again) {
      response = side_.http->Send(Ask(step));
    }
    // If the client always fails, use the answer to the request without a body, if that answer
    // rejects the user or if the path ignores bodies.
    if (!response.ok() && step.has_body) {
      Step bare = step;
      bare.body.clear();
      bare.has_body = false;
      absl::StatusOr<Response> refusal = side_.http->Send(Ask(bare));
      const bool unread = refusal.ok() && (refusal->code == 401 || refusal->code == 403);
      if (unread || ReadsNoBody(step)) response = refusal;
    }
    code_ = response.ok() ? response->code : 0;
    return response.ok() ? said_.Answer(*response) : NoAnswer(response.status());
  }

  // The head of the answer, or the whole answer if it is not a stream.
  std::string Open(const Step& step) {
    Stream stream{.exchange = side_.http->Start(Ask(step)), .type = {}, .events = {}, .broken = {}};
    Exchange& exchange = *stream.exchange;
    const auto told = [&] {
      return exchange.ended() || (exchange.headed() && exchange.response().code == 200);
    };
    code_ = 0;
    if (!side_.http->Await(told, kHeadPatience)) return "no answer";
    if (!exchange.status().ok()) return NoAnswer(exchange.status());
    code_ = exchange.response().code;
    if (code_ != 200) return said_.Answer(exchange.response());
    stream.type = exchange.response().Header("content-type");
    streams_.push_back(std::move(stream));
    return StrCat("200\ncontent-type: ", streams_.back().type);
  }

  // Waits until the server's cache has seen all earlier writes.
  void CatchUp(const Step& step) {
    const size_t path = step.target.find('?');
    Step list{.method = "GET", .target = step.target.substr(0, path)};
    if (said_.newest().empty()) return;
    list.target += "?limit=1&resourceVersionMatch=NotOlderThan&resourceVersion=" + said_.newest();
    (void)side_.http->Send(Ask(list));
  }

  // Takes the events that have arrived. Skips bookmarks, whose times vary, except for the one that
  // ends the initial list.
  void Drain() {
    side_.http->Await([] { return true; }, absl::ZeroDuration());
    for (Stream& stream : streams_) {
      while (stream.broken.empty()) {
        auto event = TakeEvent(stream.exchange->response().body, stream.type);
        if (!event.ok()) stream.broken = AsStd(event.status().message());
        if (!event.ok() || !event->has_value()) break;
        const std::string text = said_.Event(**event);
        if (absl::StrContains(text, "BOOKMARK") && !absl::StrContains(text, "initial-events-end")) {
          continue;
        }
        stream.events.push_back(text);
      }
    }
  }

  void Wait(absl::Duration time) {
    side_.http->Await([] { return false; }, time);
  }

  int code() const { return code_; }
  // The values that this server has returned so far; Forget() restores them.
  Said said() const { return said_; }
  void Forget(Said before) { said_ = std::move(before); }
  std::vector<Stream>& streams() { return streams_; }

 private:
  Side& side_;
  Said said_;
  int code_ = 0;
  std::vector<Stream> streams_;
};

std::string Shown(const Stream& stream) {
  std::string shown = "events";
  for (const std::string& event : stream.events) StrAppend(&shown, "\n", event);
  return StrCat(shown, stream.broken.empty() ? "" : "\nbroken: ", stream.broken,
                stream.exchange->ended() ? "\nended" : "");
}

size_t Count(Talk& talk) {
  size_t count = 0;
  for (const Stream& s : talk.streams()) count += s.events.size() + (s.exchange->ended() ? 1 : 0);
  return count;
}

// Waits until the streams of both sides have the same number of events and no more arrive.
void Settle(Talk& real, Talk& ours) {
  absl::Duration waited;
  for (size_t silent = 0; waited < kPatience && silent < 2; waited += kSilence) {
    const size_t before = Count(real) + Count(ours);
    real.Wait(kSilence / 2);
    ours.Wait(kSilence / 2);
    real.Drain();
    ours.Drain();
    silent = Count(real) == Count(ours) && Count(real) + Count(ours) == before ? silent + 1 : 0;
  }
}

std::string Shown(const Step& step) {
  return StrCat(step.method, " ", step.target, step.as == "admin" ? "" : " as " + step.as,
                step.accept == "application/json" ? "" : StrCat(" accept ", step.accept),
                step.content.empty() ? "" : StrCat(" content ", step.content),
                step.has_body ? StrCat(" body ", step.body) : "");
}

// Whether a real server may answer from a cache that is out of date.
bool FromCache(const Step& step) {
  return step.method == "GET" && (step.watch || absl::StrContains(step.target, "resourceVersion="));
}

}  // namespace

Outcome RunSequence(const std::vector<Step>& steps, const std::string& ns, Side& real, Side& ours,
                    std::string* trace) {
  Outcome outcome;
  Talk there(real, ns), here(ours, ns);
  std::vector<size_t> opened;  // steps of the streams
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (FromCache(step)) there.CatchUp(step);
    Said before = there.said();
    std::string said[2];
    int side = 0;
    for (Talk* talk : {&there, &here}) {
      said[side++] = step.watch ? talk->Open(step) : talk->Send(step);
    }
    ++outcome.requests;
    if (trace != nullptr) {
      StrAppend(trace, i, " ", Shown(step), "\n  ", said[0], "\n");
      if (said[0] != said[1]) StrAppend(trace, "  BUT ", said[1], "\n");
    }
    if (here.code() == kUnimplemented && there.code() != kUnimplemented) {
      ++outcome.refused[Gist(said[1])];
      // The double may have carried out a part of the request before it rejected it.
      if (Writes(step) || step.watch) return outcome;
      there.Forget(std::move(before));
      continue;
    }
    if (said[0] != said[1] && IsWording(said[0], said[1])) {
      ++outcome.reworded;
    } else if (said[0] != said[1]) {
      outcome.difference = {.step = i, .request = Shown(step), .real = said[0], .ours = said[1]};
      return outcome;
    }
    if (step.watch && there.code() == 200) opened.push_back(i);
  }
  if (opened.empty()) return outcome;
  Settle(there, here);
  for (size_t i = 0; i < opened.size(); ++i) {
    const std::string a = Shown(there.streams()[i]), b = Shown(here.streams()[i]);
    if (trace != nullptr)
      StrAppend(trace, opened[i], " ", a, "\n", a == b ? "" : StrCat("  BUT ", b, "\n"));
    if (a == b) continue;
    outcome.difference = {
        .step = opened[i], .request = Shown(steps[opened[i]]), .real = a, .ours = b};
    break;
  }
  return outcome;
}

}  // namespace mandate::conformance::explore
