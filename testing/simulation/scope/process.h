// The product as one process in virtual time; it ends by a kill.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "manager/core/testing/simulated_loop.h"
#include "testing/simulation/scope/product.h"
#include "testing/simulation/scope/wire.h"

namespace mandate::simulation {

// Single-threaded. Keep it after its death for as long as the loop runs: tasks refer to its pool.
class Process {
 public:
  struct Options {
    SimulatedLoop& loop;
    Transport& server;  // both outlive this
    uint64_t seed = 1;
    std::string ns;          // of the manager
    std::string base_token;  // content of base's token file
  };

  // Starts the process.
  explicit Process(const Options& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Wire& wire() { return wire_; }
  // Acts like SIGKILL: the process sends nothing more, and its memory is lost.
  void Kill();
  // OK, or the reason of the first component that is not ready.
  absl::Status Ready() const { return product_->Ready(); }

 private:
  SimulatedLoop& loop_;
  Wire wire_;
  SimulatedPool pool_;
  std::unique_ptr<Product> product_;
};

}  // namespace mandate::simulation
