#include "manager/debug_server.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/debug_pages.h"
#include "manager/serving/listener.h"

namespace mandate {
namespace {

constexpr size_t kMaxConnections = 8;
// The bounds of ?limit=, and its default.
constexpr size_t kMostEntries = 10'000;
constexpr size_t kDefaultRequests = 100;
constexpr size_t kDefaultWatches = 1000;

constexpr char kText[] = "text/plain; charset=utf-8";

// What a request asks for.
struct Asked {
  bool json = false;
  size_t limit = 0;
  std::string component;  // empty: all
};

// Whether the client has asked for "localhost:6060", "127.0.0.1:6060" or such. A page of another
// site can make a browser send requests to this address, but under the name of that site.
bool IsLoopback(std::string_view host) {
  std::string_view name = host.substr(0, host.find(':'));
  if (host.starts_with('[')) name = host.substr(1, host.find(']') - 1);
  if (name == "localhost") return true;
  boost::system::error_code invalid;
  return boost::asio::ip::make_address(std::string(name), invalid).is_loopback() && !invalid;
}

absl::StatusOr<Asked> Parse(const ServedRequest& request, size_t default_limit) {
  if (!IsLoopback(request.host)) {
    return absl::PermissionDeniedError(StrCat("the debug pages are not served under the name ",
                                              request.host,
                                              "; use http://localhost with the port"));
  }
  Asked asked{.json = request.accept.find("application/json") != request.accept.npos,
              .limit = default_limit,
              .component = ""};
  for (const auto& [name, value] : request.query) {
    if (name == "format" && (value == "json" || value == "table")) {
      asked.json = value == "json";
    } else if (name == "limit" && absl::SimpleAtoi(value, &asked.limit) && asked.limit >= 1 &&
               asked.limit <= kMostEntries) {
      continue;
    } else if (name == "component") {
      asked.component = value;
    } else {
      return absl::InvalidArgumentError(StrCat(
          "?", name, "=", value, " is invalid; use ?format=json or table, ?limit= from 1 to ",
          kMostEntries, ", or ?component=NAME"));
    }
  }
  return asked;
}

ServedResponse Refuse(const absl::Status& why) {
  return {.code = absl::IsPermissionDenied(why) ? 403 : 400,
          .content_type = kText,
          .body = StrCat(AsStd(why.message()), "\n")};
}

ServedResponse Page(const Asked& asked, const std::function<std::string()>& as_json,
                    const std::function<std::string()>& as_table) {
  if (asked.json) return {.content_type = "application/json", .body = as_json()};
  return {.content_type = kText, .body = as_table()};
}

ServedResponse ServeQueues(const DebugServer::Options& options, const ServedRequest& request) {
  const auto asked = Parse(request, kDefaultRequests);
  if (!asked.ok()) return Refuse(asked.status());
  std::vector<ControllerQueue> queues;
  for (const Controller* controller : options.controllers) {
    if (!asked->component.empty() && asked->component != controller->component()) continue;
    queues.push_back({.component = controller->component(),
                      .controller = controller->name(),
                      .workers = controller->max_concurrent_reconciles(),
                      .queue = controller->Queue(asked->limit)});
  }
  const absl::Time now = options.loop->clock().TimeNow();
  return Page(
      *asked, [&] { return QueuesAsJson(queues); }, [&] { return QueuesAsTable(queues, now); });
}

// Adds the watches of one cluster, as far as the limit allows.
void Append(const Cache& cache, const Asked& asked, Cache::Watches& watches) {
  const size_t left = asked.limit - std::min(asked.limit, watches.entries.size());
  Cache::Watches more = cache.Snapshot(left, asked.component);
  std::move(more.entries.begin(), more.entries.end(), std::back_inserter(watches.entries));
  watches.scopes += more.scopes;
  watches.complete = watches.complete && more.complete;
}

// The loop owns the watches. It copies their state; the page is written there, too, because it is
// bounded.
void ServeWatches(const DebugServer::Options& options, const ServedRequest& request,
                  std::function<void(ServedResponse)> answer) {
  auto asked = Parse(request, kDefaultWatches);
  if (!asked.ok()) return answer(Refuse(asked.status()));
  options.loop->Post([caches = options.caches, loop = options.loop, asked = *std::move(asked),
                      answer = std::move(answer)] {
    Cache::Watches watches;
    for (const Cache* cache : caches) Append(*cache, asked, watches);
    const absl::Time now = loop->clock().TimeNow();
    answer(Page(
        asked, [&] { return WatchesAsJson(watches); },
        [&] { return WatchesAsTable(watches, now); }));
  });
}

}  // namespace

absl::Status CheckDebugAddress(const std::string& address) {
  ASSIGN_OR_RETURN(const auto endpoint, ParseListenAddress(address));
  if (endpoint.address().is_loopback()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(address, " can be reached from other machines, and the debug pages need no ",
             "authentication; use 127.0.0.1:6060, and `kubectl port-forward` to reach it"));
}

absl::StatusOr<std::unique_ptr<DebugServer>> DebugServer::Create(Options options) {
  RETURN_IF_ERROR(CheckDebugAddress(options.address));
  HttpServer::Options serve{.address = options.address,
                            .max_connections = kMaxConnections,
                            .metrics = options.metrics,
                            .log = options.log};
  serve.handlers["/debug/queues"] = [options](const ServedRequest& request) {
    return ServeQueues(options, request);
  };
  serve.deferred["/debug/watches"] = [options](const ServedRequest& request,
                                               std::function<void(ServedResponse)> answer) {
    ServeWatches(options, request, std::move(answer));
  };
  ASSIGN_OR_RETURN(auto server, HttpServer::Create(std::move(serve)));
  options.log.Info("Serving debug pages", {{"address", server->address()}});
  return std::unique_ptr<DebugServer>(new DebugServer(std::move(server)));
}

}  // namespace mandate
