// One stream that something is wrong with.
#ifndef TESTING_APISERVER_STREAM_FAULT_H_
#define TESTING_APISERVER_STREAM_FAULT_H_

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

// Stands between what is sent and what arrives. The exchange keeps it. Loop thread only.
class StreamFault : public std::enable_shared_from_this<StreamFault> {
 public:
  // `loop` outlives the exchange.
  static void Attach(Loop& loop, const Fault& fault, uint64_t seed, Exchange& exchange);

  StreamFault(Loop& loop, const Fault& fault, uint64_t seed, Exchange& exchange)
      : loop_(loop), fault_(fault), random_(seed), exchange_(exchange) {}

 private:
  // At least 0, less than 1.
  double Roll();
  // nullopt: the end.
  void Accept(std::optional<std::string> frame);
  // Sends what is due, and more when it is.
  void Pump();
  // Sends one; false: the stream is over.
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

#endif  // TESTING_APISERVER_STREAM_FAULT_H_
