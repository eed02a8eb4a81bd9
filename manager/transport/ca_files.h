// Certificate authorities that are read again when their files change.
#pragma once

#include <map>
#include <memory>

#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/transport/http_options.h"
#include "manager/transport/transport.h"

namespace mandate {

// The CA files of endpoints, each with the content that was last read. If a file cannot be read, or
// has no certificate, the last valid content is used. Loop thread only.
class CaFiles {
 public:
  // A file is read only when Current() needs it, and at most once in each period of `refresh`.
  // Counts in the ca_… counters of `stats`. The clock and the stats outlive this.
  CaFiles(const Clock& clock, absl::Duration refresh, HttpStats& stats)
      : clock_(clock), refresh_(refresh), stats_(stats) {}

  // Returns `endpoint` with the CA that is in its ca_file now. This is `endpoint` itself if it
  // already has that CA, and the same object in each call until the file changes.
  std::shared_ptr<const Endpoint> Current(std::shared_ptr<const Endpoint> endpoint);

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::shared_ptr<const Endpoint> given;
    std::shared_ptr<const Endpoint> current;
    absl::Time next_read = absl::InfinitePast();
  };

  void Read(Entry& entry);

  const Clock& clock_;
  const absl::Duration refresh_;
  HttpStats& stats_;
  // The key is the `endpoint` of Current(), which the entry keeps alive. An entry whose endpoint
  // has no other owner is removed later.
  std::map<const Endpoint*, Entry> entries_;
};

}  // namespace mandate
