#include "manager/cache/testing/model_server.h"

#include <algorithm>
#include <utility>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {

struct ModelServer::Session {
  std::shared_ptr<FakeWatch> watch;
  Scope scope;
  int sent = 0;  // every change up to here
  bool pumping = false;
};

namespace {

using SelfReview = authorizationv1::SelfSubjectAccessReview;

ObjectKey KeyOfText(const std::string& key) {
  const size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

absl::StatusOr<HttpResponse> Error(int code, std::string_view reason) {
  return FakeRestClient::Json(code, StatusJson(code, reason));
}

}  // namespace

bool ModelServer::Roll(double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
}

void ModelServer::Serve(FakeRestClient& client) {
  const std::string component(client.component());
  client.Handle([this, component](const RestRequest& request) {
    return request.method == "POST" ? Review(component, request) : List(component, request);
  });
  client.OnWatch(
      [this, component](const std::shared_ptr<FakeWatch>& watch) { Watch(component, watch); });
}

void ModelServer::Grant(const std::string& component, const std::string& ns) {
  rights_.emplace(component, ns);
}

void ModelServer::Revoke(const std::string& component, const std::string& ns) {
  rights_.erase({component, ns});
}

bool ModelServer::Allows(const std::string& component, const std::string& ns) const {
  return rights_.contains({component, ""}) || (!ns.empty() && rights_.contains({component, ns}));
}

int ModelServer::Put(const std::string& key) {
  const ObjectKey where = KeyOfText(key);
  const bool is_new = !objects_.contains(where);
  Object& object = objects_[where];
  object.version = ++revision_;
  if (is_new) object.uid = StrCat("uid-", revision_);
  history_.push_back(
      {revision_, is_new ? "ADDED" : "MODIFIED", where, WidgetJson(key, revision_, object.uid)});
  for (const auto& session : sessions_) PumpLater(session);
  return revision_;
}

int ModelServer::Delete(const std::string& key) {
  const ObjectKey where = KeyOfText(key);
  const auto it = objects_.find(where);
  if (it == objects_.end()) return revision_;
  ++revision_;
  history_.push_back({revision_, "DELETED", where, WidgetJson(key, revision_, it->second.uid)});
  objects_.erase(it);
  for (const auto& session : sessions_) PumpLater(session);
  return revision_;
}

std::string ModelServer::Content(const DemandSpec& spec) const {
  const Scope scope{spec.ns, spec.name};
  std::string text;
  for (const auto& [key, object] : objects_) {
    if (!scope.Covers(key)) continue;
    StrAppend(&text, text.empty() ? "" : " ", key.ToString(), "@", object.version);
  }
  return text;
}

size_t ModelServer::live_watches() const {
  return std::count_if(sessions_.begin(), sessions_.end(),
                       [](const auto& session) { return session->watch->live(); });
}

ModelServer::Scope ModelServer::ScopeOf(std::string_view target) {
  Scope scope;
  constexpr std::string_view kNamespaces = "/namespaces/";
  if (const size_t at = target.find(kNamespaces); at != target.npos) {
    const std::string_view rest = target.substr(at + kNamespaces.size());
    scope.ns = std::string(rest.substr(0, rest.find('/')));
  }
  const std::string field = QueryOf(target, "fieldSelector");
  if (!field.empty()) scope.name = field.substr(field.find('=') + 1);
  return scope;
}

absl::StatusOr<HttpResponse> ModelServer::Review(const std::string& component,
                                                 const RestRequest& request) {
  if (Roll(faults_.refuse_review)) return absl::UnavailableError("scripted");
  auto review = DecodeObject<SelfReview>(request.body, Encoding::kJson);
  if (!review.ok()) return Error(400, "BadRequest");
  const auto& asked = review->spec().resourceattributes();
  const bool known = asked.group() == kWidget.group && asked.resource() == kWidget.plural &&
                     (asked.verb() == "list" || asked.verb() == "watch");
  review->mutable_status()->set_allowed(known && Allows(component, asked.namespace_()));
  return FakeRestClient::Json(201, *EncodeObject(*review, Encoding::kJson));
}

// Pages are offsets into the state of one revision; the state is read out of the history.
absl::StatusOr<HttpResponse> ModelServer::List(const std::string& component,
                                               const RestRequest& request) {
  const Scope scope = ScopeOf(request.target);
  if (Roll(faults_.refuse_list)) {
    switch (random_() % 5) {
      case 0:
        return Error(410, "Expired");
      case 1:
        return Error(429, "TooManyRequests");
      case 2:
        return Error(500, "InternalError");
      case 3:
        return Error(404, "NotFound");
      default:
        return absl::UnavailableError("connection refused");
    }
  }
  if (!served_) return FakeRestClient::Json(404, "404 page not found\n");
  if (!Allows(component, scope.ns)) return Error(403, "Forbidden");
  int revision = revision_;
  size_t offset = 0;
  const std::string token = QueryOf(request.target, "continue");
  if (!token.empty()) {
    revision = std::stoi(token);
    offset = std::stoul(token.substr(token.find(':') + 1));
    if (revision < compacted_ || Roll(faults_.expire_page)) return Error(410, "Expired");
  }
  std::map<ObjectKey, std::string> state;
  for (const Change& change : history_) {
    if (change.revision > revision || !scope.Covers(change.key)) continue;
    if (change.type == "DELETED") {
      state.erase(change.key);
    } else {
      state[change.key] = change.json;
    }
  }
  std::vector<std::string> items;
  for (auto& [key, json] : state) items.push_back(std::move(json));
  const std::string limit = QueryOf(request.target, "limit");
  const size_t end =
      limit.empty() ? items.size() : std::min(items.size(), offset + std::stoul(limit));
  const std::string next = end < items.size() ? StrCat(revision, ":", end) : "";
  return FakeRestClient::Json(
      200, ListJson(StrCat(revision), {items.begin() + offset, items.begin() + end}, next));
}

void ModelServer::Watch(const std::string& component, const std::shared_ptr<FakeWatch>& watch) {
  const bool initial = watch->Query("sendInitialEvents") == "true";
  if (Roll(faults_.refuse_watch)) {
    switch (random_() % 4) {
      case 0:
        return watch->Refuse(410, StatusJson(410, "Expired"));
      case 1:
        return watch->Refuse(429, StatusJson(429, "TooManyRequests"));
      case 2:
        return watch->Refuse(500, StatusJson(500, "InternalError"));
      default:
        return watch->Close(absl::UnavailableError("connection refused"));
    }
  }
  auto session = std::make_shared<Session>(Session{watch, ScopeOf(watch->request().target)});
  if (!served_) return watch->Refuse(404, "404 page not found\n");
  if (!Allows(component, session->scope.ns)) {
    return watch->Refuse(403, StatusJson(403, "Forbidden"));
  }
  if (initial && Roll(faults_.no_watch_list)) {
    return watch->Refuse(400, StatusJson(400, "BadRequest"));
  }
  const std::string from = watch->Query("resourceVersion");
  session->sent = from.empty() ? revision_ : std::stoi(from);
  if (!initial && session->sent < compacted_) {
    if (random_() % 2 == 0) return watch->Refuse(410, StatusJson(410, "Expired"));
    watch->Open();
    watch->Send(ErrorJson(410, "Expired"));
    return watch->Close();
  }
  watch->Open();
  if (initial) {
    std::string frames;
    for (const auto& [key, object] : objects_) {
      if (!session->scope.Covers(key)) continue;
      frames += EventJson("ADDED", WidgetJson(key.ToString(), object.version, object.uid));
    }
    if (!Roll(faults_.drop_bookmark)) frames += BookmarkJson(StrCat(revision_), true);
    session->sent = revision_;
    SendSplit(*watch, frames);
  }
  std::erase_if(sessions_, [](const auto& old) { return !old->watch->live(); });
  sessions_.push_back(session);
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(std::stoi(watch->Query("timeoutSeconds"))),
               [watch] { watch->Close(); });
  Bookmarks(session);
  PumpLater(session);
}

void ModelServer::PumpLater(const std::shared_ptr<Session>& session) {
  if (session->pumping || !session->watch->live()) return;
  session->pumping = true;
  const absl::Duration delay =
      faults_.delay * std::uniform_real_distribution<double>(0, 1)(random_);
  loop_.PostAt(loop_.clock().TimeNow() + delay, [this, session] {
    session->pumping = false;
    if (session->watch->live()) Pump(*session);
  });
}

void ModelServer::Pump(Session& session) {
  FakeWatch& watch = *session.watch;
  if (session.sent < compacted_) {
    watch.Send(ErrorJson(410, "Expired"));
    return watch.Close();
  }
  std::string frames;
  for (const Change& change : history_) {
    if (change.revision <= session.sent) continue;
    session.sent = change.revision;
    if (!session.scope.Covers(change.key)) continue;
    if (Roll(faults_.garbage)) frames += "{\"type\":\"ADDED\",\"object\":42}\n";
    frames += EventJson(change.type, change.json);
  }
  const bool cut = Roll(faults_.cut);
  // Cut within a frame, as networks do.
  if (cut && !frames.empty()) frames.resize(random_() % frames.size());
  SendSplit(watch, frames);
  if (cut) Cut(watch);
}

void ModelServer::Cut(FakeWatch& watch) {
  switch (random_() % 5) {
    case 0:
      return watch.Close();
    case 1:
      return watch.Close(absl::UnavailableError("connection reset"));
    default:
      // The frame that was cut, if any, ends here and is garbage.
      watch.Send(StrCat("\n", random_() % 2 == 0 ? ErrorJson(429, "TooManyRequests")
                                                 : ErrorJson(500, "InternalError")));
      return watch.Close();
  }
}

void ModelServer::Bookmarks(const std::shared_ptr<Session>& session) {
  loop_.PostAt(loop_.clock().TimeNow() + absl::Minutes(1), [this, session] {
    if (!session->watch->live()) return;
    Pump(*session);
    if (session->watch->live() && !Roll(faults_.drop_bookmark)) {
      session->watch->Send(BookmarkJson(StrCat(session->sent)));
    }
    Bookmarks(session);
  });
}

void ModelServer::SendSplit(FakeWatch& watch, const std::string& bytes) {
  for (size_t start = 0; start < bytes.size();) {
    const size_t size = 1 + random_() % 300;
    watch.Send(bytes.substr(start, size));
    start += size;
  }
}

}  // namespace mandate
