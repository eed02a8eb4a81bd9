// Certificate authorities as they rotate on disk.
#ifndef MANAGER_TRANSPORT_CA_FILES_H_
#define MANAGER_TRANSPORT_CA_FILES_H_

#include <map>
#include <memory>

#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/transport/http_options.h"
#include "manager/transport/transport.h"

namespace mandate {

// What a file held last is used as long as the file cannot be read, or holds no certificate.
// Loop thread only.
class CaFiles {
 public:
  // Files are read no more often than every `refresh`, when an endpoint is asked for: nothing runs
  // by itself. The clock and the stats, whose ca_… it counts, outlive this.
  CaFiles(const Clock& clock, absl::Duration refresh, HttpStats& stats)
      : clock_(clock), refresh_(refresh), stats_(stats) {}

  // `endpoint`, with the CA that its ca_file holds now; itself when that is what it has, and the
  // same object as long as nothing changes.
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
  // By `given`, which it keeps alive; those that nobody else has are forgotten in time.
  std::map<const Endpoint*, Entry> entries_;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CA_FILES_H_
