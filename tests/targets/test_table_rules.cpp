// What becomes of a table's columns and rows before it is a design: labels that are words, names as columns of 0 and 1,
// columns and rows that are left out; and one message for all that is wrong.
#include <gtest/gtest.h>

#include "targets/data/dataset.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::expect_error;
using testing_support::ScratchFiles;
using Values = std::vector<double>;
using Names = std::vector<std::string>;

constexpr const char* people =
    "age,region,id,bought\n"
    "31,north,a7,yes\n"
    "NA,south,a8,no\n"
    "52,east,a9,no\n"
    "40,south,b1,yes\n";

Design read(const std::string& path, const TableRules& rules) { return load_labelled_csv(path, rules, false, true); }

TEST(TableRules, MakeADesignOfATableOfWords) {
  const ScratchFiles files;
  TableRules rules;
  rules.positive = "yes", rules.drop_columns = "id", rules.categories = "region", rules.missing = Missing::drop;
  const Design d = read(files.write("people.csv", people), rules);
  EXPECT_EQ(d.names, (Names{"age", "region=north", "region=south", "bias"}));
  EXPECT_EQ(d.x, (Values{31, 1, 0, 1, 52, 0, 0, 1, 40, 0, 1, 1}));
  EXPECT_EQ(d.y, (Values{1, 0, 1}));
  EXPECT_EQ(d.note, "1 of 4 rows have gaps and were left out");
}

TEST(TableRules, TheLabelMayStandBeforeWhatIsDroppedOrExpanded) {
  const ScratchFiles files;
  TableRules rules;
  rules.drop_columns = "\"a, b\",last", rules.categories = std::string("c");
  const Design d = read(files.write("a.csv", "\"a, b\",c,y,last\nq,u,1,?\nq,v,0,?\n"), rules);
  EXPECT_EQ(d.names, (Names{"c=v", "bias"}));
  EXPECT_EQ(d.y, (Values{1, 0}));
  EXPECT_EQ(d.note, "");
}

TEST(TableRules, ANumberMayBeThePositiveLabelAndClassesTakeTheSameRules) {
  const ScratchFiles files;
  TableRules rules{"y"};
  rules.positive = std::string("2");
  const std::string path = files.write("a.csv", "x,y\n1,1\n2,2\n3,1\n,2\n");
  rules.missing = Missing::drop;
  EXPECT_EQ(read(path, rules).y, (Values{0, 1, 0}));
  const Design classes = load_classified_csv(path, rules, false, false);
  EXPECT_EQ(classes.classes, (Names{"1", "2"}));
  EXPECT_EQ(classes.y, (Values{0, 1, 0}));
  EXPECT_EQ(classes.note, "1 of 4 rows have gaps and were left out");
}

TEST(TableRules, AllThatIsWrongIsInOneMessage) {
  const ScratchFiles files;
  const auto refused = [&](const char* text, const TableRules& rules, ExitStatus status, const char* message) {
    const std::string path = files.write("bad.csv", text);
    expect_error([&] { read(path, rules); }, status, path, message);
  };
  refused(
      people, {}, ExitStatus::data,
      ": \"north\" is not a number (line 2, column 2 \"region\"; 12 such fields; also \"NA\" is not a number: line 3, "
      "column 1 \"age\"). Try --categories region,id where names count, --drop-columns region,id where not, and the "
      "label "
      "that counts as 1, as in --positive yes?");
  TableRules rules;
  rules.drop_columns = "id,region", rules.missing = Missing::drop;
  refused(people, rules, ExitStatus::data,
          ": \"yes\" is not a number (line 2, column 4 \"bought\"; 3 such fields). Try the label that counts as 1, as "
          "in --positive yes?");
  refused(
      "x,y\n1,0\n2\n\n3,a\n", {}, ExitStatus::data,
      ": a row has the wrong number of fields (line 3 has 1, line 1 has 2; 2 such rows; also \"a\" is not a number: "
      "line 5, column 2 \"y\"). Repair or remove the row?");
  rules.positive = "ja";
  refused(people, rules, ExitStatus::data,
          ": no label is \"ja\" (the first of column \"bought\" is \"yes\"). Is it spelt as in the table?");
  rules.categories = "regoin";
  refused(people, rules, ExitStatus::usage,
          ": there is no column \"regoin\" (the nearest of its 4 columns is \"region\"). Is that the one?");
  rules.categories = "id";
  refused(people, rules, ExitStatus::usage,
          ": column \"id\" is named twice (drop_columns = id,region, categories = id). Leave one out?");
  rules.categories = "bought";
  refused(people, rules, ExitStatus::usage,
          ": column \"bought\" is the label (it is dropped, a category or the groups too). Name another column with "
          "--label?");
  rules = {"y"};
  rules.categories = std::string("c"), rules.missing = Missing::drop;
  refused(
      "c,y\nu,0\nu,1\n", rules, ExitStatus::data,
      ": column \"c\" has 1 different names (2 to 1000 are wanted of categories). Leave it out with --drop-columns?");
  refused("c,y\n,0\nNA,1\n", rules, ExitStatus::data,
          ": every row has a gap (2 rows). Leave the columns out that are never complete, with --drop-columns?");
}

}  // namespace
}  // namespace kilochain
