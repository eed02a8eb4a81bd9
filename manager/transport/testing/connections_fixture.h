// Many watches and calls on a server that reports the number of their connection.
#ifndef MANAGER_TRANSPORT_TESTING_CONNECTIONS_FIXTURE_H_
#define MANAGER_TRANSPORT_TESTING_CONNECTIONS_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {

class ConnectionsFixture : public TransportFixture {
 protected:
  // A server that acts by target: /watch… stays open, other targets get the number of their
  // connection.
  void StartPlainServer(H2Server::Options options = {}) {
    StartServer(
        [](std::shared_ptr<ServerStream> stream) {
          const ServerRequest& request = stream->request();
          if (request.target.starts_with("/watch")) {
            stream->Open();
            stream->Send(std::to_string(request.connection));
          } else {
            stream->Respond(200, std::to_string(request.connection));
          }
        },
        std::move(options));
  }

  std::vector<Watch> OpenMany(int count) {
    std::vector<Watch> watches(count);
    OnLoop([&] {
      for (int i = 0; i < count; ++i) {
        watches[i].sink = std::make_shared<CollectingSink>();
        HttpRequest request = Request("/watch/" + std::to_string(i), "t" + std::to_string(i % 50));
        request.user_agent = "component-" + std::to_string(i % 50);
        watches[i].stream = transport_->Open(std::move(request), watches[i].sink);
      }
    });
    return watches;
  }

  bool AllOpen(const std::vector<Watch>& watches) {
    return Eventually([&] {
      for (const Watch& watch : watches) {
        if (watch.sink->data().empty()) return false;
      }
      return true;
    });
  }

  void CloseAll(std::vector<Watch>& watches) {
    OnLoop([&] { watches.clear(); });
  }

  std::string Connection(HttpRequest request) {
    const auto answer = Call(std::move(request));
    return answer.ok() ? answer->body : answer.status().ToString();
  }
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TESTING_CONNECTIONS_FIXTURE_H_
