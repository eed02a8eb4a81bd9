// Applies a fault to one stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "manager/core/executor.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/faults.h"

namespace mandate::apiserver {

// A relay between the server and the client. The exchange owns it. Loop thread only.
class StreamFault : public std::enable_shared_from_this<StreamFault> {
 public:
  // `loop` outlives the exchange.
  static void Attach(Loop& loop, const Fault& fault, uint64_t seed, Exchange& exchange);

  StreamFault(Loop& loop, const Fault& fault, uint64_t seed, Exchange& exchange)
      : loop_(loop), fault_(fault), random_(seed), exchange_(exchange) {}

 private:
  // A random number in [0, 1).
  double Roll();
  // nullopt is the end of the stream.
  void Accept(std::optional<std::string> frame);
  // Sends the frames that are due, and starts a timer for the next one.
  void Pump();
  // Sends one frame. False if the stream has ended.
  bool Send(std::optional<std::string> frame);
  void End(const std::string& next_frame);

  Loop& loop_;
  const Fault fault_;
  std::mt19937_64 random_;
  Exchange& exchange_;
  std::deque<std::optional<std::string>> queue_;
  std::optional<std::string> held_bookmark_;
  size_t sent_ = 0;
  std::unique_ptr<Loop::Timer> timer_;
};

}  // namespace mandate::apiserver
