// Runs a fuzz target on each file in the arguments, on all files in folders among them, and on
// seeded mutations of each file: a regression test without libFuzzer.
//
//   replay MUTATIONS FILE…
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "testing/fuzz/fuzz.h"

namespace {

// The input with some bytes changed, removed or doubled, or without its end.
std::string Mutate(std::string bytes, std::mt19937& random) {
  constexpr std::string_view kTelling = "{}[]\",:\\nt0-.e/\x00\xFF\x80\x7F ";
  const auto below = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  for (size_t edits = 1 + below(4); edits > 0 && !bytes.empty(); --edits) {
    const size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = kTelling[below(kTelling.size())];
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, 1 + below(8));
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, 1 + below(16)));
        break;
      default:
        bytes.resize(below(4) == 0 ? at : bytes.size());
    }
  }
  return bytes;
}

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  const int mutations = argc > 1 ? std::atoi(argv[1]) : 0;
  std::set<std::filesystem::path> files;
  for (int i = 2; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.insert(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      files.insert(entry.path());
    }
  }
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      std::cerr << "cannot read " << file << "\n";
      return 1;
    }
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::cout << file << std::endl;  // flushed: the last line names the input that ends the process
    Run(bytes);
    std::mt19937 random(20240601);
    for (int i = 0; i < mutations; ++i) Run(Mutate(bytes, random));
  }
  std::cout << files.size() << " inputs, with " << mutations << " mutations each\n";
  return files.empty() ? 1 : 0;
}
