#include "testing/simulation/scope/process.h"

namespace mandate::simulation {
namespace {

Endpoint Double() {
  Endpoint endpoint;
  endpoint.server = "https://double:6443";
  endpoint.ca_pem = "CA";
  return endpoint;
}

}  // namespace

Process::Process(const Options& options)
    : loop_(options.loop),
      wire_(options.loop, options.server),
      pool_(options.loop, options.seed),
      product_(std::make_unique<Product>(Product::Options{.loop = options.loop,
                                                          .transport = wire_,
                                                          .workers = pool_,
                                                          .endpoint = Double(),
                                                          .seed = options.seed,
                                                          .ns = options.ns,
                                                          .base_token = options.base_token})) {
  product_->Start();
}

Process::~Process() { Kill(); }

void Process::Kill() {
  if (product_ == nullptr) return;
  wire_.Die();
  // Running reconcilers see their calls fail.
  (void)product_->Stop(loop_.clock().TimeNow() + absl::Minutes(5));
  product_.reset();
}

}  // namespace mandate::simulation
