// Serves the resource requests that have passed the filters.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// Loop thread only.
class Resources {
 public:
  // `core` outlives this.
  Resources(Core& core, std::vector<VirtualResource> virtual_resources);

  // Responds to a request whose attributes name a resource.
  void Handle(std::shared_ptr<Exchange> exchange);

  const std::vector<VirtualResource>& virtual_resources() const { return virtual_; }

 private:
  const VirtualResource* FindVirtual(const rbac::Attributes& attributes) const;
  void NoSuch(Exchange& exchange) const;
  void Create(const VirtualResource& resource, std::shared_ptr<Exchange> exchange);
  void Read(std::shared_ptr<Exchange> exchange, std::shared_ptr<const ResourceType> type,
            Encoding answer);

  Core& core_;
  const std::vector<VirtualResource> virtual_;
};

}  // namespace mandate::apiserver
