// Certificate authorities that are read again when their files change.
#ifndef MANAGER_TRANSPORT_CA_FILES_H_
#define MANAGER_TRANSPORT_CA_FILES_H_

#include <map>
#include <memory>

#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/transport/http_options.h"
#include "manager/transport/transport.h"

namespace mandate {

// While a file cannot be read, or holds no certificate, its last good content is used. Loop thread
// only.
class CaFiles {
 public:
  // A file is read at most once in `refresh`, and only when Current() needs it. The clock and the
  // stats, whose ca_… counters this increments, outlive this.
  CaFiles(const Clock& clock, absl::Duration refresh, HttpStats& stats)
      : clock_(clock), refresh_(refresh), stats_(stats) {}

  // `endpoint` with the CA that its ca_file holds now. Returns the same object as long as nothing
  // changes, and `endpoint` itself if it has that CA.
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
  // By the endpoint that was given, which the entry keeps alive. Entries that nobody else holds are
  // removed in time.
  std::map<const Endpoint*, Entry> entries_;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CA_FILES_H_
