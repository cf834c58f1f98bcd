// read_csv and read_matrix: what is accepted, value for value, and the text of every refusal.
#include <gtest/gtest.h>

#include <cmath>

#include "targets/data/bytes.hpp"
#include "targets/data/dataset.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::expect_error;
using testing_support::ScratchFiles;
using Values = std::vector<double>;

TEST(ReadCsv, ReadsNamesAndNumbers) {
  ScratchFiles files;
  const Table table = read_csv(files.write("a.csv", "age,income,y\n1,2.5,0\n-3,1e-3,1\n"));
  EXPECT_EQ(table.columns, (std::vector<std::string>{"age", "income", "y"}));
  EXPECT_EQ(table.rows, 2u);
  EXPECT_EQ(table.values, (Values{1, 2.5, 0, -3, 1e-3, 1}));
}

TEST(ReadCsv, ReadsNumbersToTheLastBit) {
  ScratchFiles files;
  const Table table = read_csv(files.write("a.csv", "a,b,c\n0.1,2.2250738585072014e-308,1.7976931348623157e308\n"));
  EXPECT_EQ(table.values, (Values{0.1, 2.2250738585072014e-308, 1.7976931348623157e308}));
}

TEST(ReadCsv, ToleratesLineEndsBlanksQuotedNamesMarksAndTrailingBlankLines) {
  ScratchFiles files;
  const Values expected = {1, 2, 3, 4};
  EXPECT_EQ(read_csv(files.write("crlf.csv", "a,b\r\n1,2\r\n3,4\r\n")).values, expected);
  EXPECT_EQ(read_csv(files.write("no_newline.csv", "a,b\n1,2\n3,4")).values, expected);
  EXPECT_EQ(read_csv(files.write("blanks.csv", "a , b\n 1,\t2\n+3 ,4\n\n \r\n")).values, expected);
  EXPECT_EQ(read_csv(files.write_gzipped("zipped.csv", "a,b\n1,2\n3,4\n")).values, expected);
  const Table table = read_csv(files.write("quoted.csv", "\xEF\xBB\xBF\"a, in \"\"m\"\"\", \"b\"\n1,2\n"));
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a, in \"m\"", "b"}));
  EXPECT_EQ(read_csv(files.write("all_quoted.csv", "\"a\",\"b\"\n\"1\", \"+2\"\n\"3\",4\n")).values, expected);
  EXPECT_EQ(read_csv(files.write("crlf.csv", "a,b\r\n1,2\r\n")).columns, (std::vector<std::string>{"a", "b"}));
}

struct BadText {
  const char* name;
  const char* text;
  const char* message;  // after the path
};
void PrintTo(const BadText& c, std::ostream* out) { *out << c.name; }

class ReadCsvRefuses : public ::testing::TestWithParam<BadText> {};

TEST_P(ReadCsvRefuses, WithLineAndColumn) {
  ScratchFiles files;
  const std::string path = files.write("bad.csv", GetParam().text);
  expect_error([&] { read_csv(path); }, ExitStatus::data, path, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ReadCsvRefuses,
    ::testing::Values(
        BadText{"quoted_nothing", "a,b\n1,\"\"\n",
                ": a value is missing (line 2, column 2 \"b\"). Remove the row or write a number?"},
        BadText{"empty", "", ": the file is empty (0 bytes). Is this the right file?"},
        BadText{"only_blanks", " \n\r\n", ": the file is empty (4 bytes). Is this the right file?"},
        BadText{"header_only", "a,b\n",
                ": there are no rows below the header (2 columns, 0 rows). Is the file complete, and are its numbers "
                "separated by commas?"},
        BadText{"short_row", "a,b,y\n1,2,0\n1,2\n",
                ": a row has the wrong number of fields (line 3 has 2, line 1 has 3). Repair or remove the row?"},
        BadText{"long_row", "a,b,y\n1,2,0,4\n",
                ": a row has the wrong number of fields (line 2 has 4, line 1 has 3). Repair or remove the row?"},
        // The count is told, not the text that the lost field moved into a wrong column.
        BadText{"short_row_with_text", "a,b,y\nx,2\n",
                ": a row has the wrong number of fields (line 2 has 2, line 1 has 3). Repair or remove the row?"},
        BadText{"blank_line", "a,b\n1,2\n\n3,4\n", ": a blank line between the rows (line 3). Remove the line?"},
        BadText{"text", "age,income,y\n1,2,0\n1,abc,1\n",
                ": \"abc\" is not a number (line 3, column 2 \"income\"). Remove the row or write a number?"},
        BadText{"number_then_text", "a,b\n1,2kg\n",
                ": \"2kg\" is not a number (line 2, column 2 \"b\"). Remove the row or write a number?"},
        BadText{"two_signs", "a,b\n1,+-2\n",
                ": \"+-2\" is not a number (line 2, column 2 \"b\"). Remove the row or write a number?"},
        BadText{"missing_value", "a,b\n1,\n",
                ": a value is missing (line 2, column 2 \"b\"). Remove the row or write a number?"},
        BadText{"nan", "a,b\n1,2\n1,nan\n",
                ": \"nan\" is not a finite number (line 3, column 2 \"b\"). Remove the row or write a number?"},
        BadText{"infinity", "a,b\n-inf,2\n",
                ": \"-inf\" is not a finite number (line 2, column 1 \"a\"). Remove the row or write a number?"},
        BadText{"overflow", "a,b\n1e400,2\n",
                ": \"1e400\" is outside the range of a double (line 2, column 1 \"a\"). Rescale the column or remove "
                "the row?"},
        BadText{"no_header", "1,2,0\n3,4,1\n",
                ": there is no header (line 1: 3 of 3 fields are numbers). Add a first line with the names of the "
                "columns?"},
        BadText{"unnamed_first", ",a,y\n1,2,0\n",
                ": a column has no name (line 1, column 1). Name it, or remove it if it only numbers the rows?"},
        BadText{"unnamed_last", "a,y,\n1,2,0\n",
                ": a column has no name (line 1, column 3). Name it, or remove a stray comma?"},
        BadText{"duplicate", "a,y,a\n1,2,0\n",
                ": two columns are named \"a\" (line 1, column 3). Rename or remove one of them?"},
        BadText{
            "semicolons", "a;y\n1;0\n",
            ": the fields are not separated by commas (line 1 has a semicolon and no comma). Write it with commas?"},
        BadText{"tabs", "a\ty\n1\t0\n",
                ": the fields are not separated by commas (line 1 has a tab and no comma). Write it with commas?"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(ReadCsv, RefusesMissingFilesAndFolders) {
  ScratchFiles files;
  const std::string missing = files.path("missing.csv"), folder = files.path("");
  expect_error([&] { read_csv(missing); }, ExitStatus::data, missing,
               ": there is no such file (looked for " + missing + "). Is the path right?");
  expect_error([&] { read_csv(folder); }, ExitStatus::data, folder,
               ": this is a directory (expected a file). Which of its files is meant?");
}

TEST(ReadMatrix, TakesAFirstLineOfNumbersAsData) {
  ScratchFiles files;
  const Matrix headless = read_matrix(files.write("a.csv", "1,2,3\n4,5,6\n"));
  EXPECT_EQ(headless.rows, 2u);
  EXPECT_EQ(headless.columns, 3u);
  EXPECT_EQ(headless.values, (Values{1, 2, 3, 4, 5, 6}));
  const Matrix headed = read_matrix(files.write("b.csv", "a,b,c\n1,2,3\n"));
  EXPECT_EQ(headed.rows, 1u);
  EXPECT_EQ(headed.values, (Values{1, 2, 3}));
  const Matrix column = read_matrix(files.write("c.csv", "1\n2\n"));
  EXPECT_EQ(column.rows, 2u);
  EXPECT_EQ(column.columns, 1u);
}

TEST(ReadMatrix, RefusesADoubtfulFirstLine) {
  ScratchFiles files;
  const std::string mixed = files.write("mixed.csv", "1,2x,3\n4,5,6\n");
  expect_error([&] { read_matrix(mixed); }, ExitStatus::data, mixed,
               ": the first line mixes numbers and text (line 1: 2 of 3 fields are numbers). Make it all names, or all "
               "numbers?");
  const std::string with_nan = files.write("nan.csv", "1,nan\n");
  expect_error([&] { read_matrix(with_nan); }, ExitStatus::data, with_nan,
               ": \"nan\" is not a finite number (line 1, column 2). Remove the row or write a number?");
}

// A .npy file as NumPy lays it out: the header padded with blanks to a multiple of 64 bytes.
template <typename T>
std::string npy(int version, const std::string& type, const std::string& order, const std::string& shape,
                const std::vector<T>& values) {
  const std::string mark = type.starts_with('[') ? "" : "'";
  std::string header =
      "{'descr': " + mark + type + mark + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  const std::size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255);
  bytes += header;
  return bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

TEST(ReadMatrix, ReadsNumPyFiles) {
  ScratchFiles files;
  const Values values = {1, 2, 3, 0.1, -5, 6};
  const Matrix matrix = read_matrix(files.write("a.npy", npy<double>(1, "<f8", "False", "(2, 3)", values)));
  EXPECT_EQ(matrix.rows, 2u);
  EXPECT_EQ(matrix.columns, 3u);
  EXPECT_EQ(matrix.values, values);
  const Matrix column = read_matrix(files.write("b.npy", npy<float>(2, "<f4", "False", "(3,)", {1.5f, 0.1f, 3})));
  EXPECT_EQ(column.rows, 3u);
  EXPECT_EQ(column.columns, 1u);
  EXPECT_EQ(column.values, (Values{1.5, static_cast<double>(0.1f), 3}));
}

TEST(ReadCsv, TakesNumPyRecordsAndFilesInMemory) {
  const std::string type = "[('age', '<f8'), (\"it's\", '<f8'), ('y', '<f8')]";
  const std::string bytes = npy<double>(1, type, "False", "(2,)", {1, 2.5, 0, -3, 1e-3, 1});
  {
    const FileInMemory file("<table>", bytes);
    const Table table = read_csv("<table>");
    EXPECT_EQ(table.columns, (std::vector<std::string>{"age", "it's", "y"}));
    EXPECT_EQ(table.rows, 2u);
    EXPECT_EQ(table.values, (Values{1, 2.5, 0, -3, 1e-3, 1}));
    EXPECT_EQ(load_labelled_csv("<table>", {}, false, false).y, (Values{0, 1}));
    EXPECT_EQ(load_classified_csv("<table>", {"y"}, false, false).classes, (std::vector<std::string>{"0", "1"}));
    expect_error([&] { FileInMemory("<table>", ""); }, ExitStatus::usage, "",
                 "data of that name are there (<table>). Choose another name?");
  }
  EXPECT_THROW(read_csv("<table>"), Error);
  const FileInMemory plain("<plain>", npy<double>(1, "<f8", "False", "(2, 1)", {1, 2}));
  expect_error([&] { read_csv("<plain>"); }, ExitStatus::data, "<plain>",
               ": the array's columns have no names (1 columns). Save an array of records, whose fields are the "
               "columns?");
}

TEST(ReadMatrix, RefusesOtherNumPyFiles) {
  ScratchFiles files;
  const std::string fix = "). Write it with numpy.save(path, numpy.ascontiguousarray(a, dtype=\"float64\"))?";
  const auto refuse = [&](const std::string& bytes, const std::string& message) {
    const std::string path = files.write("bad.npy", bytes);
    expect_error([&] { read_matrix(path); }, ExitStatus::data, path, message);
  };
  const std::string bad = ": not a .npy file this can read (";
  const Values two = {1, 2};
  refuse(npy<double>(1, "<i8", "False", "(2,)", two), bad + "dtype '<i8', expected '<f4' or '<f8'" + fix);
  refuse(npy<double>(1, ">f8", "False", "(2,)", two), bad + "dtype '>f8', expected '<f4' or '<f8'" + fix);
  refuse(npy<double>(1, "<f8", "True", "(2, 1)", two), bad + "Fortran order, expected C order" + fix);
  refuse(npy<double>(1, "<f8", "False", "(2, 1, 1)", two), bad + "3 dimensions, expected 1 or 2" + fix);
  refuse(npy<double>(1, "<f8", "False", "()", {1}), bad + "0 dimensions, expected 1 or 2" + fix);
  refuse(npy<double>(4, "<f8", "False", "(2,)", two), bad + "format version 4, expected 1 to 3" + fix);
  refuse(npy<double>(1, "<f8", "False", "(2,)", two).substr(0, 40), bad + "the header is cut short" + fix);
  refuse("\x93NUMPY\x01", bad + "only 7 bytes" + fix);
  const std::string mismatch = ": the array's bytes do not match its shape (";
  refuse(npy<double>(1, "<f8", "False", "(3,)", two),
         mismatch + "3 x 1 values of 8 bytes, got 16 bytes). Write the file again?");
  refuse(npy<double>(1, "<f8", "False", "(1,)", two),
         mismatch + "1 x 1 values of 8 bytes, got 16 bytes). Write the file again?");
  // rows x columns x 8 wraps round to 16 in 64 bits.
  refuse(
      npy<double>(1, "<f8", "False", "(4611686018427387906, 9223372036854775809)", two),
      mismatch + "4611686018427387906 x 9223372036854775809 values of 8 bytes, got 16 bytes). Write the file again?");
  refuse(npy<double>(1, "<f8", "False", "(0, 2)", {}), ": the array is empty (shape 0 x 2). Is this the right file?");
  refuse(npy<double>(1, "<f8", "False", "(1, 2)", {1, std::nan("")}),
         ": a value is NaN or infinite (row 0, column 1, counted from 0). Replace it by a number?");
}

}  // namespace
}  // namespace kilochain
