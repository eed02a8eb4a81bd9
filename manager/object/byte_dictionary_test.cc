#include "manager/object/byte_dictionary.h"

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

constexpr size_t kMaxBytes = size_t{8} << 10;

std::string Text(int i) {
  std::string text;
  for (int line = 0; line < 40; ++line) {
    text += StrCat("the field of line ", line, " has the value ", i * 7919 % 1000 + line, "\n");
  }
  return text;
}

std::string Noise(size_t size) {
  std::mt19937 random(7);
  std::string noise(size, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  return noise;
}

std::shared_ptr<const ByteDictionary> Trained() {
  std::vector<std::string> samples;
  for (int i = 0; i < 100; ++i) samples.push_back(Text(i));
  auto dictionary = ByteDictionary::Train(samples, kMaxBytes);
  EXPECT_TRUE(dictionary.ok()) << dictionary.status();
  return *std::move(dictionary);
}

std::string Compressed(const ByteDictionary& dictionary, const std::string& text) {
  std::string copy;
  dictionary.Compress(text, [&](std::string_view compressed) { copy = compressed; });
  return copy;
}

TEST(ByteDictionaryTest, CompressesWhatResemblesTheSamples) {
  const auto dictionary = Trained();
  const std::string text = Text(4711);
  const std::string compressed = Compressed(*dictionary, text);
  EXPECT_LT(compressed.size(), text.size() / 4);
  std::string again(text.size(), '\0');
  ASSERT_EQ(dictionary->Decompress(compressed, again.data(), again.size()), absl::OkStatus());
  EXPECT_EQ(again, text);
}

TEST(ByteDictionaryTest, ReturnsEveryTextUnchanged) {
  const auto dictionary = Trained();
  for (const std::string& text : {std::string(), std::string(1, '\0'), Noise(5), Noise(100'000),
                                  std::string(3'000'000, 'a'), Text(1) + Noise(3000)}) {
    const std::string compressed = Compressed(*dictionary, text);
    std::string again(text.size(), 'x');
    ASSERT_EQ(dictionary->Decompress(compressed, again.data(), again.size()), absl::OkStatus());
    EXPECT_TRUE(again == text) << text.size();
  }
}

TEST(ByteDictionaryTest, ReturnsTheStartOfATextAlone) {
  const auto dictionary = Trained();
  const std::string text = Text(4711) + Noise(300) + Text(12);
  const std::string compressed = Compressed(*dictionary, text);
  for (size_t size = 0; size <= text.size(); ++size) {
    std::string start(size + 1, 'x');  // and nothing beyond it is written
    ASSERT_EQ(dictionary->DecompressStart(compressed, start.data(), size), absl::OkStatus());
    ASSERT_EQ(start, text.substr(0, size) + "x");
  }
  std::string more(text.size() + 1, 'x');
  EXPECT_EQ(dictionary->DecompressStart(compressed, more.data(), more.size()).code(),
            absl::StatusCode::kInternal);
}

TEST(ByteDictionaryTest, NoticesBytesThatItDidNotWrite) {
  const auto dictionary = Trained();
  const std::string text = Text(5);
  const std::string compressed = Compressed(*dictionary, text);
  std::string again(text.size() + 1, '\0');
  const auto decompress = [&](std::string_view bytes, size_t size) {
    return dictionary->Decompress(bytes, again.data(), size);
  };
  EXPECT_EQ(decompress(compressed, text.size() + 1).code(), absl::StatusCode::kInternal);
  EXPECT_THAT(decompress(compressed, text.size() - 1).message(), HasSubstr("cannot be read"));
  EXPECT_FALSE(decompress(std::string_view(compressed).substr(1), text.size()).ok());
  EXPECT_FALSE(decompress("", text.size()).ok());
}

TEST(ByteDictionaryTest, NeedsSamplesWithSomethingInCommon) {
  EXPECT_EQ(ByteDictionary::Train({}, kMaxBytes).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(ByteDictionary::Train({"a", "b"}, kMaxBytes).status().message(),
              HasSubstr("no dictionary can be made of 2 samples"));
}

TEST(ByteDictionaryTest, ServesManyThreads) {
  const auto dictionary = Trained();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string text = Text(1000 * t + i);
        const std::string compressed = Compressed(*dictionary, text);
        std::string again(text.size(), '\0');
        EXPECT_EQ(dictionary->Decompress(compressed, again.data(), again.size()), absl::OkStatus());
        EXPECT_EQ(again, text);
      }
    });
  }
}

}  // namespace
}  // namespace mandate
