#include "rbacgen/emit/crd/doc_comment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mandate::rbacgen {
namespace {

using ::testing::ElementsAre;

struct Case {
  std::string comment;
  std::string description;
};

TEST(DocCommentTest, KeepsTheTextOfTheComment) {
  const Case cases[] = {
      {"", ""},
      {" One line.\n", "One line."},
      {" Two\n lines.\n", "Two\nlines."},
      {"\n\n One.\n\n\n Two.  \n\n", "One.\n\nTwo."},
      {" One.\n\n +optional\n\n Two.\n", "One.\n\nTwo."},
      {" A list:\n   - indented\n", "A list:\n  - indented"},
      {" One.\n TODO(x): not this.\n Two.\n", "One.\nTwo."},
      {" One.\n ---\n Not this.\n", "One."},
      {" ```\n TODO\n ---\n ```\n TODO\n", "```\nTODO\n---\n```"},
      {"no blank\n", "no blank"},
      {" windows\r\n lines\r\n", "windows\nlines"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ReadDocComment(c.comment).description, c.description) << c.comment;
  }
}

TEST(DocCommentTest, FindsMarkersBelowTheSeparator) {
  EXPECT_THAT(ReadDocComment(" Text.\n +optional\n ---\n   +listType=map\n").markers,
              ElementsAre("optional", "listType=map"));
}

TEST(DocCommentTest, CutsAfterASentenceOrAWord) {
  const std::string text = "One. Two three";
  EXPECT_EQ(CutDescription(text, std::nullopt), text);
  EXPECT_EQ(CutDescription(text, 14), text);
  EXPECT_EQ(CutDescription(text, 13), "One.");
  EXPECT_EQ(CutDescription(text, 0), "");
  EXPECT_EQ(CutDescription("Two three", 5), "Two...");
  EXPECT_EQ(CutDescription("Twothree", 5), "Twoth...");
  EXPECT_EQ(CutDescription(".Two three", 7), ".Two...") << "a full stop alone is no sentence";
  EXPECT_EQ(CutDescription("A. Two three", 4), "A.");
  EXPECT_EQ(CutDescription(" Twothree", 5), " Twot...");
  EXPECT_EQ(CutDescription("Zwö", 3), "Zw...") << "never half a character";
}

}  // namespace
}  // namespace mandate::rbacgen
