#include "testing/apiserver/reads.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/negotiation.h"

namespace mandate::apiserver {
namespace {

void Respond(Exchange& exchange, std::string body, Encoding answer) {
  exchange.Respond({.code = 200,
                    .headers = {{"content-type", std::string(MediaType(answer))}},
                    .body = std::move(body)});
}

// Runs `done` now or when the store reaches `wanted`, or fails the exchange after a timeout.
void WhenFresh(Core& core, const std::shared_ptr<Exchange>& exchange, int64_t wanted,
               std::function<void()> done) {
  if (wanted <= core.store.revision()) return done();
  auto timer = std::make_shared<std::unique_ptr<Loop::Timer>>();
  *timer = core.loop.RunAt(core.loop.clock().TimeNow() + core.watch.fresh_wait,
                           [&core, exchange, wanted, done = std::move(done)] {
                             if (wanted <= core.store.revision()) return done();
                             exchange->Fail(TooLargeVersion(wanted, core.store.revision()));
                           });
  exchange->OnClosed([timer] { timer->reset(); });
}

absl::Status ExpiredContinue(const Continuation& at) {
  ApiStatusProto status = *ApiStatus(ExpiredError(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this "
      "response to retrieve the remainder of the results. Continuing with the provided token "
      "results in an inconsistent list - objects that were created, modified, or deleted between "
      "the time the first chunk was returned and now may show up in the list."));
  status.mutable_metadata()->set_continue_(Continuation{-1, at.after}.Encode());
  return StatusFromApi(status);
}

// The revision of a list's first page; -1 is the latest. `one`: for one object, which has no pages.
int64_t RevisionOf(const ListQuery& query, bool one) {
  const int64_t wanted = query.revision.value_or(0);
  const bool exact = query.match == "Exact" || (query.match.empty() && query.limit > 0 && !one);
  return exact && wanted > 0 ? wanted : -1;
}

std::string KeyOf(const StoredObject& object) {
  return object.ns.empty() ? object.name : StrCat(object.ns, "/", object.name);
}

absl::StatusOr<std::string> ListBody(const Core& core, const ResourceType& type,
                                     const ListQuery& query, const std::string& ns,
                                     Encoding answer) {
  const bool one = query.filter.names_one() && (!ns.empty() || !type.namespaced);
  const int64_t revision =
      query.continuation ? query.continuation->revision : RevisionOf(query, one);
  ListMeta list{.revision = revision < 0 ? core.store.revision() : revision};
  Objects all;
  if (query.continuation) {
    ASSIGN_OR_RETURN(all, ObjectsAt(core, type, ns, *query.continuation));
  } else if (revision < 0) {
    all = core.store.List(type.name, ns);
  } else {
    const auto then = core.store.ListAt(type.name, ns, revision);
    if (then == nullptr) {
      return ExpiredError("The resourceVersion for the provided list is too old.");
    }
    all = *then;
  }
  const Objects items = TakePage(all, query, list);
  return WriteList(items, list, type, answer);
}

}  // namespace

absl::StatusOr<Objects> ObjectsAt(const Core& core, const ResourceType& type, std::string_view ns,
                                  const Continuation& continuation) {
  if (continuation.revision < 0) return core.store.List(type.name, ns);
  const auto then = core.store.ListAt(type.name, ns, continuation.revision);
  if (then == nullptr) return ExpiredContinue(continuation);
  return *then;
}

Objects TakePage(const Objects& all, const ListQuery& query, ListMeta& list) {
  // A list at any version has no pages.
  const int64_t limit = query.any_version ? 0 : query.limit;
  Objects items;
  int64_t remaining = 0;
  for (const auto& object : all) {
    if (query.continuation && KeyOf(*object) <= query.continuation->after) continue;
    if (limit > 0 && static_cast<int64_t>(items.size()) == limit) {
      ++remaining;
    } else if (query.filter.Matches(*object)) {
      items.push_back(object);
    }
  }
  // The server does not check whether the selector matches any remaining object.
  if (remaining > 0 && !query.filter.names_one()) {
    list.continue_token = Continuation{list.revision, KeyOf(*items.back())}.Encode();
    if (query.filter.everything()) list.remaining = remaining;
  }
  return items;
}

void AnswerGet(Core& core, std::shared_ptr<Exchange> exchange,
               std::shared_ptr<const ResourceType> type, Encoding answer) {
  const std::string version = exchange->request().Query("resourceVersion").value_or("");
  uint64_t wanted = 0;
  if (!version.empty() && !absl::SimpleAtoi(version, &wanted)) {
    return exchange->Fail(PlainError(
        StrCat("resourceVersion: Invalid value: ", rbac::Quote(version),
               ": strconv.ParseUint: parsing ", rbac::Quote(version), ": invalid syntax")));
  }
  WhenFresh(core, exchange, static_cast<int64_t>(wanted), [&core, exchange, type, answer] {
    const rbac::Attributes& attributes = exchange->request().attributes;
    const auto object =
        core.store.Get(type->name, type->namespaced ? attributes.ns : "", attributes.name);
    if (object == nullptr) return exchange->Fail(NotFoundError(type->name, attributes.name));
    Respond(*exchange, WriteObject(*object, *type, answer), answer);
  });
}

void AnswerList(Core& core, std::shared_ptr<Exchange> exchange,
                std::shared_ptr<const ResourceType> type, ListQuery query, Encoding answer) {
  const int64_t wanted =
      query.continuation ? query.continuation->revision : query.revision.value_or(0);
  WhenFresh(core, exchange, wanted, [&core, exchange, type, query = std::move(query), answer] {
    const std::string ns = type->namespaced ? exchange->request().attributes.ns : "";
    absl::StatusOr<std::string> body = ListBody(core, *type, query, ns, answer);
    if (!body.ok()) return exchange->Fail(body.status());
    Respond(*exchange, *std::move(body), answer);
  });
}

}  // namespace mandate::apiserver
