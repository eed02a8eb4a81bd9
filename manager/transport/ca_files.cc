#include "manager/transport/ca_files.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "manager/core/read_file.h"

namespace mandate {
namespace {

constexpr size_t kMaxBytes = 1 << 20;

// Nullopt if the file cannot be read or has no certificate.
std::optional<std::string> ReadPem(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxBytes);
  if (!text.ok()) return std::nullopt;
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  // A truncated file is an error: another process may be writing it.
  const size_t end = text->rfind(kEnd);
  if (end == std::string::npos || text->find("-----BEGIN", end) != std::string::npos) {
    return std::nullopt;
  }
  return *text;
}

}  // namespace

std::shared_ptr<const Endpoint> CaFiles::Current(std::shared_ptr<const Endpoint> endpoint) {
  if (endpoint->ca_file.empty()) return endpoint;
  const auto [at, added] = entries_.try_emplace(endpoint.get());
  Entry& entry = at->second;
  if (added) {
    entry.given = entry.current = std::move(endpoint);
    std::erase_if(entries_, [&entry](const auto& other) {
      const long ours = other.second.given == other.second.current ? 2 : 1;
      return &other.second != &entry && other.second.given.use_count() == ours;
    });
  }
  if (clock_.TimeNow() >= entry.next_read) Read(entry);
  return entry.current;
}

void CaFiles::Read(Entry& entry) {
  entry.next_read = clock_.TimeNow() + refresh_;
  std::optional<std::string> pem = ReadPem(entry.given->ca_file);
  if (!pem.has_value()) {
    ++stats_.ca_errors;
    return;
  }
  if (*pem == entry.current->ca_pem) return;
  ++stats_.ca_rotations;
  auto rotated = std::make_shared<Endpoint>(*entry.given);
  rotated->ca_pem = *std::move(pem);
  entry.current = std::move(rotated);
}

}  // namespace mandate
