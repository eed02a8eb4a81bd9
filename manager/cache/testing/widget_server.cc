#include "manager/cache/testing/widget_server.h"

#include <jsoncpp/json/json.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "manager/cache/testing/watch_json.h"
#include "manager/cache/testing/widget_objects.h"
#include "manager/core/strings.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/http_head.h"
#include "testing/apiserver/object_io.h"

namespace mandate {
namespace {

using apiserver::Fault;
using apiserver::FaultRule;

const apiserver::GroupResource kNamespaceResource = {"", "namespaces"};
const apiserver::GroupResource kWidgets = {std::string(kWidget.group), std::string(kWidget.plural)};

absl::Status Reset() { return absl::UnavailableError("connection reset (by the double)"); }

apiserver::ServerOptions OptionsOf(uint64_t seed, int64_t first_revision,
                                   const std::vector<std::string>& keys = {}) {
  apiserver::ServerOptions options;
  options.seed = seed;
  options.access.seed = seed;
  options.store.first_revision = first_revision;
  options.objects = WidgetObjects(keys);
  return options;
}

// Chosen so that the last initial object has the revision kStart. Each key has two objects.
int64_t FirstRevision(size_t keys) {
  static const int64_t kFirst = [] {
    SimulatedLoop loop;
    apiserver::ServerCore core(loop, OptionsOf(1, 1));
    return WidgetServer::kStart + 1 - core.store().revision();
  }();
  return kFirst - 2 * static_cast<int64_t>(keys);
}

// One of `rules` applies with this probability in total; each is equally likely.
void AddEvenly(apiserver::Faults& to, double probability, std::vector<FaultRule> rules) {
  if (probability <= 0) return;
  const double share = probability / static_cast<double>(rules.size());
  double left = 1;
  for (FaultRule& rule : rules) {
    rule.probability = std::min(1.0, share / left);
    left -= share;
    to.Add(std::move(rule));
  }
}

}  // namespace

class WidgetServer::CallExchange : public apiserver::Exchange {
 public:
  CallExchange(apiserver::Request request, FakeRestClient::Reply reply)
      : Exchange(std::move(request)), reply_(std::move(reply)) {}

 protected:
  void WriteWhole(const apiserver::Response& response) override {
    HttpResponse head = apiserver::ToHead(response);
    head.body = response.body;
    reply_(std::move(head));
  }
  void WriteHead(const apiserver::Response&) override {}
  void Write(std::string) override {}
  void WriteEnd() override {}
  void WriteAbort() override { reply_(Reset()); }

 private:
  const FakeRestClient::Reply reply_;
};

// Sends pieces of any size, in order, each with a delay.
class WidgetServer::WatchExchange : public apiserver::Exchange {
 public:
  WatchExchange(apiserver::Request request, std::shared_ptr<FakeWatch> watch, WidgetServer& server)
      : Exchange(std::move(request)), watch_(std::move(watch)), server_(server) {}

 protected:
  void WriteWhole(const apiserver::Response& response) override {
    Later([code = response.code, body = response.body](FakeWatch& watch) {
      watch.Refuse(code, body);
    });
  }
  void WriteHead(const apiserver::Response& head) override {
    watch_->Open(apiserver::ToHead(head).content_type);
  }
  void Write(std::string bytes) override {
    if (over_) return;
    over_ = server_.Roll(server_.faults_.cut);
    // Cuts within a frame, as networks do.
    if (over_) bytes.resize(server_.random_() % bytes.size());
    for (size_t start = 0; start < bytes.size();) {
      const size_t size = 1 + server_.random_() % 300;
      Later([piece = bytes.substr(start, size)](FakeWatch& watch) { watch.Send(piece); });
      start += size;
    }
    if (over_) Cut();
  }
  void WriteEnd() override {
    Later([](FakeWatch& watch) { watch.Close(); });
  }
  void WriteAbort() override {
    Later([](FakeWatch& watch) { watch.Close(Reset()); });
  }

 private:
  void Later(std::function<void(FakeWatch&)> work) {
    const absl::Time now = server_.loop_.clock().TimeNow();
    const double share = std::uniform_real_distribution<double>(0, 1)(server_.random_);
    arrival_ = std::max(arrival_, now + server_.faults_.delay * share);
    if (arrival_ <= now) return work(*watch_);
    server_.loop_.PostAt(arrival_, [watch = watch_, work = std::move(work)] { work(*watch); });
  }

  void Cut() {
    const uint64_t die = server_.random_() % 6;
    if (die == 0) return WriteEnd();
    if (die == 1) return WriteAbort();
    const absl::Status errors[] = {apiserver::TooManyRequests("scripted", 1),
                                   apiserver::InternalError("scripted"),
                                   apiserver::ExpiredError("scripted")};
    // The frame that was cut ends here, and is invalid.
    Later([frame = "\n" + apiserver::WriteErrorEvent(errors[die % 3], Encoding::kJson)](
              FakeWatch& watch) { watch.Send(frame); });
    WriteEnd();
  }

  const std::shared_ptr<FakeWatch> watch_;
  WidgetServer& server_;
  absl::Time arrival_ = absl::InfinitePast();
  bool over_ = false;
};

WidgetServer::WidgetServer(SimulatedLoop& loop, uint64_t seed, const std::vector<std::string>& keys)
    : loop_(loop),
      random_(seed),
      core_(std::make_unique<apiserver::ServerCore>(
          loop, OptionsOf(seed, FirstRevision(keys.size()), keys))) {
  if (core_->store().revision() != kStart) {
    std::cerr << "WidgetServer: starts at " << core_->store().revision() << "\n";
    std::abort();
  }
}

apiserver::Request WidgetServer::ToRequest(const std::string& component,
                                           const RestRequest& request) const {
  apiserver::Headers headers = {{"accept", request.accept},
                                {"authorization", StrCat("Bearer ", component)}};
  if (!request.body.empty()) headers.emplace_back("content-type", request.content_type);
  auto parsed =
      apiserver::Request::Parse(request.method, request.target, std::move(headers), request.body);
  if (!parsed.ok()) {
    std::cerr << "WidgetServer: " << parsed.status() << "\n";
    std::abort();
  }
  return *std::move(parsed);
}

void WidgetServer::Serve(FakeRestClient& client) {
  const std::string component(client.component());
  SetGroups(component);
  client.HandleLate([this, component](const RestRequest& request, FakeRestClient::Reply reply) {
    Serve(std::make_shared<CallExchange>(ToRequest(component, request), std::move(reply)));
  });
  client.OnWatch([this, component](const std::shared_ptr<FakeWatch>& watch) {
    std::erase_if(watches_, [](const auto& old) { return !old->live(); });
    std::erase_if(exchanges_, [](const auto& old) { return old.expired(); });
    watches_.push_back(watch);
    auto exchange =
        std::make_shared<WatchExchange>(ToRequest(component, watch->request()), watch, *this);
    watch->OnCancelled([weak = std::weak_ptr<apiserver::Exchange>(exchange)] {
      if (const auto gone = weak.lock()) gone->MarkGone();
    });
    exchanges_.push_back(exchange);
    Serve(std::move(exchange));
  });
}

bool WidgetServer::Roll(double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
}

void WidgetServer::Serve(std::shared_ptr<apiserver::Exchange> exchange) {
  if (loop_.clock().TimeNow() < down_until_) return exchange->Abort();
  if (applied_ != faults_) AddRules();
  core_->Serve(std::move(exchange));
}

void WidgetServer::Restart(absl::Duration downtime) {
  down_until_ = loop_.clock().TimeNow() + downtime;
  for (const auto& weak : std::exchange(exchanges_, {})) {
    if (const auto exchange = weak.lock()) exchange->Abort();
  }
}

void WidgetServer::SetServed(bool served) {
  served_ = served;
  AddRules();
}

void WidgetServer::AddRules() {
  using namespace apiserver;  // of the errors
  applied_ = faults_;
  apiserver::Faults& to = core_->faults();
  to.Clear();
  const std::string widgets(kWidget.plural);
  const absl::Status expired = ExpiredError("scripted");
  const absl::Status busy = TooManyRequests("scripted", 1);
  const absl::Status broken = InternalError("scripted");
  const absl::Status unauthorized = ApiErrorOf(401, "Unauthorized", "scripted");
  const auto refuse = [&](const char* verb, absl::Status status) {
    return FaultRule{.verb = verb, .resource = widgets, .fault = {.refuse = std::move(status)}};
  };
  const auto drop = [&](const char* verb) {
    return FaultRule{.verb = verb, .resource = widgets, .fault = {.drop = true}};
  };
  if (!served_)
    to.Add({.path_prefix = "/apis/example.com/", .fault = {.refuse = NoSuchResource()}});
  AddEvenly(to, faults_.refuse_review,
            {{.verb = "create", .resource = "selfsubjectaccessreviews", .fault = {.drop = true}}});
  FaultRule unanswered_review = {.verb = "create", .resource = "selfsubjectaccessreviews"};
  FaultRule unanswered_list = {.verb = "list", .resource = widgets};
  FaultRule unanswered_watch = {.verb = "watch", .resource = widgets};
  for (FaultRule* rule : {&unanswered_review, &unanswered_list, &unanswered_watch}) {
    rule->fault.ignore = true;
    AddEvenly(to, faults_.no_response, {*rule});
  }
  for (const char* verb : {"list", "watch"}) {
    AddEvenly(to, faults_.unauthorized, {refuse(verb, unauthorized)});
  }
  FaultRule slow = {.verb = "list", .resource = widgets, .fault = {.delay = faults_.list_delay}};
  AddEvenly(to, faults_.slow_list, {slow});
  FaultRule closed = {.verb = "watch", .resource = widgets, .fault = {.end_after = 0}};
  AddEvenly(to, faults_.close_at_once, {closed});
  FaultRule stalled = {.verb = "watch", .resource = widgets, .fault = {.stall_after = 2}};
  AddEvenly(to, faults_.stall, {stalled});
  FaultRule page = refuse("list", expired);
  page.parameter = "continue";
  AddEvenly(to, faults_.expire_page, {page});
  AddEvenly(to, faults_.refuse_list,
            {refuse("list", expired), refuse("list", busy), refuse("list", broken),
             refuse("list", NoSuchResource()), drop("list")});
  AddEvenly(
      to, faults_.refuse_watch,
      {refuse("watch", expired), refuse("watch", busy), refuse("watch", broken), drop("watch")});
  FaultRule initial = refuse("watch", BadRequest("scripted"));
  initial.parameter = "sendInitialEvents";
  AddEvenly(to, faults_.no_watch_list, {initial});

  if (faults_.drop_bookmark > 0 || faults_.garbage > 0) {
    to.Add({.verb = "watch",
            .resource = widgets,
            .fault = {.drop_bookmarks = faults_.drop_bookmark, .garbage = faults_.garbage}});
  }
}

void WidgetServer::SetGroups(const std::string& component) {
  apiserver::User user;
  user.name = component;
  for (const auto& [name, ns] : rights_) {
    if (name == component) user.groups.push_back(WidgetReadersOf(ns));
  }
  core_->access().authenticator().SetFixedToken(component, std::move(user));
}

void WidgetServer::Grant(const std::string& component, const std::string& where) {
  rights_.emplace(component, where);
  SetGroups(component);
}

void WidgetServer::Revoke(const std::string& component, const std::string& where) {
  rights_.erase({component, where});
  SetGroups(component);
}

bool WidgetServer::Allows(const std::string& component, const std::string& ns) const {
  return rights_.contains({component, ""}) || (!ns.empty() && rights_.contains({component, ns}));
}

int WidgetServer::Put(const std::string& key, const std::map<std::string, std::string>& labels) {
  const ObjectKey where = KeyOfText(key);
  const auto before = core_->store().Get(kWidgets, where.ns, where.name);
  Json::Value object;
  object["apiVersion"] = "example.com/v1";
  object["kind"] = "Widget";
  object["metadata"]["namespace"] = where.ns;
  object["metadata"]["name"] = where.name;
  object["metadata"]["uid"] = before != nullptr ? before->uid : StrCat("uid-", ++serial_);
  for (const auto& [name, value] : labels) object["metadata"]["labels"][name] = value;
  core_->store().Put(kWidgets, std::move(object));
  return revision();
}

int WidgetServer::Delete(const std::string& key) {
  const ObjectKey where = KeyOfText(key);
  core_->store().Delete(kWidgets, where.ns, where.name);
  return revision();
}

void WidgetServer::PutNamespace(const std::string& name) {
  Json::Value object;
  object["apiVersion"] = "v1";
  object["kind"] = "Namespace";
  object["metadata"]["name"] = name;
  object["metadata"]["uid"] = StrCat("uid-", ++serial_);
  core_->store().Put(kNamespaceResource, std::move(object));
}

void WidgetServer::DeleteNamespace(const std::string& name) {
  core_->store().Delete(kNamespaceResource, "", name);
}

void WidgetServer::Compact() { core_->store().Compact(core_->store().revision()); }

int WidgetServer::revision() const { return static_cast<int>(core_->store().revision()); }

std::string WidgetServer::Content(const DemandSpec& spec) const {
  std::string text;
  for (const auto& object : core_->store().List(kWidgets, spec.ns)) {
    if (!spec.name.empty() && object->name != spec.name) continue;
    StrAppend(&text, text.empty() ? "" : " ", object->ns, "/", object->name, "@", object->revision);
  }
  return text;
}

size_t WidgetServer::live_watches() const {
  return static_cast<size_t>(std::count_if(watches_.begin(), watches_.end(),
                                           [](const auto& watch) { return watch->live(); }));
}

}  // namespace mandate
