// CSV by hand: a table of numbers needs no general reader, and the messages need exact lines and columns.
#include "targets/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "base/nearest_name.hpp"

namespace kilochain {
namespace {

enum class Parsed { number, text, out_of_range };

std::string_view trimmed(std::string_view field) {
  while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
  while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
  return field;
}

Parsed parse_number(std::string_view field, double* value) {
  field = trimmed(field);
  // from_chars takes no plus sign; "+-1" must stay text.
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), *value);
  if (end != field.data() + field.size() || code == std::errc::invalid_argument) return Parsed::text;
  return code == std::errc::result_out_of_range ? Parsed::out_of_range : Parsed::number;
}

// Long or unprintable fields would drown the message.
std::string in_quotes(std::string_view field) {
  std::string out = "\"";
  for (char c : field.substr(0, 40)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return out + (field.size() > 40 ? "...\"" : "\"");
}

// Walks the text line by line; the end of a line is LF or CRLF, or the end of the text.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  bool next(std::string_view* line) {
    if (position_ >= text_.size()) return false;
    std::size_t end = text_.find('\n', position_);
    if (end == std::string_view::npos) end = text_.size();
    *line = text_.substr(position_, end - position_);
    if (!line->empty() && line->back() == '\r') line->remove_suffix(1);
    position_ = end + 1;
    ++number_;
    return true;
  }
  bool blank_from_here() const {
    return position_ >= text_.size() || text_.find_first_not_of(" \t\r\n", position_) == std::string_view::npos;
  }
  std::size_t number() const { return number_; }  ///< of the line last handed out, from 1

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t number_ = 0;
};

// Names may be quoted, with "" for a quote, as R and spreadsheets write them.
std::vector<std::string> split_names(std::string_view line) {
  std::vector<std::string> names;
  std::string name;
  bool inside = false, was_quoted = false;
  const auto finish = [&] {
    names.push_back(was_quoted ? name : std::string(trimmed(name)));
    name.clear();
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && inside && i + 1 < line.size() && line[i + 1] == '"') {
      name += '"';
      ++i;
    } else if (c == '"' && (inside || trimmed(name).empty())) {
      if (!inside) name.clear();
      inside = !inside;
      was_quoted = true;
    } else if (c == ',' && !inside) {
      finish();
    } else if (!was_quoted || inside || (c != ' ' && c != '\t')) {
      name += c;
    }
  }
  finish();
  return names;
}

// Of a number or a label: some programs quote every field.
std::string_view unquoted(std::string_view field) {
  field = trimmed(field);
  const bool marks = field.size() > 1 && field.front() == '"' && field.back() == '"';
  return marks ? field.substr(1, field.size() - 2) : field;
}

std::size_t count_numbers(std::string_view line) {
  std::size_t numbers = 0;
  double ignored = 0;
  for (std::size_t begin = 0; begin <= line.size();) {
    std::size_t end = line.find(',', begin);
    if (end == std::string_view::npos) end = line.size();
    numbers += parse_number(line.substr(begin, end - begin), &ignored) != Parsed::text;
    begin = end + 1;
  }
  return numbers;
}

void check_names(const std::string& path, const std::vector<std::string>& names) {
  std::unordered_set<std::string> seen;
  for (std::size_t j = 0; j < names.size(); ++j) {
    const std::string where = "line 1, column " + std::to_string(j + 1);
    require(!names[j].empty(), ExitStatus::data, path + ": a column has no name", where,
            j == 0 ? "Name it, or remove it if it only numbers the rows?" : "Name it, or remove a stray comma?");
    require(seen.insert(names[j]).second, ExitStatus::data, path + ": two columns are named " + in_quotes(names[j]),
            where, "Rename or remove one of them?");
  }
}

[[noreturn]] void throw_ragged(const std::string& path, std::string_view line, std::size_t number, std::size_t got,
                               std::size_t expected) {
  if (trimmed(line).empty()) {
    throw Error(ExitStatus::data, path + ": a blank line between the rows", "line " + std::to_string(number),
                "Remove the line?");
  }
  throw Error(
      ExitStatus::data, path + ": a row has the wrong number of fields",
      "line " + std::to_string(number) + " has " + std::to_string(got) + ", line 1 has " + std::to_string(expected),
      "Repair or remove the row?");
}

[[noreturn]] void throw_bad_field(const std::string& path, std::string_view field, Parsed parsed,
                                  const std::string& where) {
  field = trimmed(field);
  if (parsed == Parsed::out_of_range) {
    throw Error(ExitStatus::data, path + ": " + in_quotes(field) + " is outside the range of a double", where,
                "Rescale the column or remove the row?");
  }
  if (parsed == Parsed::number) {
    throw Error(ExitStatus::data, path + ": " + in_quotes(field) + " is not a finite number", where,
                "Remove the row or write a number?");
  }
  if (field.empty()) {
    throw Error(ExitStatus::data, path + ": a value is missing", where, "Remove the row or write a number?");
  }
  throw Error(ExitStatus::data, path + ": " + in_quotes(field) + " is not a number", where,
              "Remove the row or write a number?");
}

}  // namespace

std::size_t find_label(const std::string& path, const std::vector<std::string>& columns, const std::string& label) {
  if (label.empty()) return columns.size() - 1;
  const auto found = std::find(columns.begin(), columns.end(), label);
  if (found == columns.end()) {
    const std::string near = near_name(label, columns);
    throw Error(ExitStatus::usage, fmt::format("{}: there is no column \"{}\" for the label", path, label),
                near.empty() ? fmt::format("its {} columns begin with \"{}\"", columns.size(), columns[0])
                             : fmt::format("the nearest of its {} columns is \"{}\"", columns.size(), near),
                near.empty() ? "Which of them is meant?" : "Is that the one?");
  }
  return static_cast<std::size_t>(found - columns.begin());
}

Table parse_csv(const std::string& path, const std::string& text, Header header, TextColumn* labels) {
  std::string_view body = text;
  if (body.starts_with("\xEF\xBB\xBF")) body.remove_prefix(3);  // the mark that spreadsheets put before UTF-8
  Lines lines(body);
  require(!lines.blank_from_here(), ExitStatus::data, path + ": the file is empty",
          std::to_string(text.size()) + " bytes", "Is this the right file?");
  std::string_view line;
  lines.next(&line);

  Table table;
  table.columns = split_names(line);
  const std::size_t width = table.columns.size();
  const std::size_t numbers = count_numbers(line);
  const std::string counted = std::to_string(numbers) + " of " + std::to_string(width) + " fields are numbers";
  bool headed = true;
  if (header == Header::required) {
    require(numbers < width, ExitStatus::data, path + ": there is no header", "line 1: " + counted,
            "Add a first line with the names of the columns?");
  } else {
    headed = numbers == 0;
    // Taking such a line for a header would drop a row with a slip of the pen in it without a word.
    require(headed || numbers == width, ExitStatus::data, path + ": the first line mixes numbers and text",
            "line 1: " + counted, "Make it all names, or all numbers?");
  }
  const bool other_separator = width == 1 && line.find_first_of(";\t") != std::string_view::npos;
  require(
      !other_separator, ExitStatus::data, path + ": the fields are not separated by commas",
      "line 1 has a " + std::string(line.find(';') != std::string_view::npos ? "semicolon" : "tab") + " and no comma",
      "Write it with commas?");
  if (headed) {
    check_names(path, table.columns);
  } else {
    table.columns.clear();
    lines = Lines(body);
  }
  if (labels) labels->index = find_label(path, table.columns, labels->name);

  const auto place = [&](std::size_t column) {
    std::string where = "line " + std::to_string(lines.number()) + ", column " + std::to_string(column + 1);
    return headed ? where + " " + in_quotes(table.columns[column]) : where;
  };
  const std::size_t estimate = body.size() / (line.size() + 1) + 1;
  table.values.reserve(width * (headed ? estimate : estimate + estimate / 8));
  while (!lines.blank_from_here() && lines.next(&line)) {
    const std::size_t row_start = table.values.size();
    std::size_t got = 0, bad_column = 0;
    std::string_view bad_field;
    Parsed bad = Parsed::number;
    bool is_bad = false;
    for (std::size_t begin = 0; begin <= line.size(); ++got) {
      std::size_t end = line.find(',', begin);
      if (end == std::string_view::npos) end = line.size();
      const std::string_view field = unquoted(line.substr(begin, end - begin));
      begin = end + 1;
      double value = 0;
      if (labels && got == labels->index && !field.empty()) {
        labels->fields.emplace_back(field);
        table.values.push_back(0);
        continue;
      }
      const Parsed parsed = parse_number(field, &value);
      if (!is_bad && (parsed != Parsed::number || !std::isfinite(value))) {
        is_bad = true;
        bad = parsed;
        bad_field = field;
        bad_column = got;
      }
      table.values.push_back(value);
    }
    // The count first: in a row that lost a field, every later complaint would name the wrong column.
    if (table.values.size() - row_start != width) throw_ragged(path, line, lines.number(), got, width);
    if (is_bad) throw_bad_field(path, bad_field, bad, place(bad_column));
    ++table.rows;
  }
  require(table.rows > 0, ExitStatus::data, path + ": there are no rows below the header",
          std::to_string(width) + (width == 1 ? " column" : " columns") + ", 0 rows",
          "Is the file complete, and are its numbers separated by commas?");
  if (!headed) table.columns.resize(width);
  return table;
}

}  // namespace kilochain
