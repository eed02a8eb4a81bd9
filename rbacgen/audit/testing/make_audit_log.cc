// make_audit_log BYTES [SEED]: a log of at least that many bytes on standard output.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "rbacgen/audit/testing/audit_log_maker.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: make_audit_log BYTES [SEED]\n";
    return 2;
  }
  const uint64_t bytes = std::strtoull(argv[1], nullptr, 10);
  mandate::rbacgen::testing::AuditLogMaker maker(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1,
                                                 /*components=*/20);
  std::ios::sync_with_stdio(false);
  for (uint64_t written = 0; written < bytes && std::cout;) {
    const std::string line = maker.Next();
    std::cout << line;
    written += line.size();
  }
  return std::cout ? 0 : 1;
}
