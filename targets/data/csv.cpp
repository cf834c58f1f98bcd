// CSV by hand: a table of numbers needs no general reader, and the messages need exact lines and columns.
#include "targets/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "base/nearest_name.hpp"
#include "targets/data/csv_problems.hpp"

namespace kilochain {

std::size_t find_column(const std::string& path, const std::vector<std::string>& columns, const std::string& name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) {
    const std::string near = near_name(name, columns);
    throw Error(ExitStatus::usage, fmt::format("{}: there is no column \"{}\"", path, name),
                near.empty() ? fmt::format("its {} columns begin with \"{}\"", columns.size(), columns[0])
                             : fmt::format("the nearest of its {} columns is \"{}\"", columns.size(), near),
                near.empty() ? "Which of them is meant?" : "Is that the one?");
  }
  return static_cast<std::size_t>(found - columns.begin());
}

namespace {

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
  bool blank_from_here() const { return position_ >= blank_; }
  std::size_t number() const { return number_; }  ///< of the line last handed out, from 1

 private:
  std::string_view text_;
  std::size_t blank_ = text_.find_last_not_of(" \t\r\n") + 1;  ///< from where all is blank
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

/// What is written into files: names of columns and of what stands in them.
void require_utf8(const std::string& path, std::string_view text, const std::string& where) {
  require(is_utf8(text), ExitStatus::data, path + ": " + in_quotes(text) + " is not UTF-8", where,
          "Write the table as UTF-8, as with iconv -f LATIN1 -t UTF-8?");
}

void check_names(const std::string& path, const std::vector<std::string>& names) {
  std::unordered_set<std::string> seen;
  for (std::size_t j = 0; j < names.size(); ++j) {
    const std::string where = "line 1, column " + std::to_string(j + 1);
    require(!names[j].empty(), ExitStatus::data, path + ": a column has no name", where,
            j == 0 ? "Name it, or remove it if it only numbers the rows?" : "Name it, or remove a stray comma?");
    require_utf8(path, names[j], where);
    require(seen.insert(names[j]).second, ExitStatus::data, path + ": two columns are named " + in_quotes(names[j]),
            where, "Rename or remove one of them?");
  }
}

/// What is done with each column.
enum class Role : char { number, label, category, group, skipped };

std::vector<std::string> listed(const std::string& names) {
  return names.empty() ? std::vector<std::string>{} : split_names(names);
}

std::vector<Role> roles_of(const std::string& path, const std::vector<std::string>& columns, Observations& o) {
  std::vector<Role> roles(columns.size(), Role::number);
  const auto mark = [&](const std::string& names, Role role) {
    for (const std::string& name : listed(names)) {
      Role& of = roles[find_column(path, columns, name)];
      require(of == Role::number, ExitStatus::usage, fmt::format("{}: column \"{}\" is named twice", path, name),
              fmt::format("drop_columns = {}, categories = {}{}", o.rules->drop_columns, o.rules->categories,
                          o.rules->groups.empty() ? "" : ", groups = " + o.rules->groups),
              "Leave one out?");
      of = role;
    }
  };
  mark(o.rules->drop_columns, Role::skipped);
  mark(o.rules->categories, Role::category);
  mark(o.rules->groups, Role::group);
  require(std::count(roles.begin(), roles.end(), Role::group) <= 1, ExitStatus::usage, path + ": groups are one column",
          "groups = " + o.rules->groups, "Put a name with a comma into quotes?");
  if (o.rules->label.empty()) {
    const auto last =
        std::find_if(roles.rbegin(), roles.rend(), [](Role r) { return r != Role::skipped && r != Role::group; });
    require(last != roles.rend(), ExitStatus::usage, path + ": no column is left",
            "drop_columns = " + o.rules->drop_columns, "Leave some out?");
    o.label = static_cast<std::size_t>(roles.rend() - last) - 1;
  } else {
    o.label = find_column(path, columns, o.rules->label);
  }
  require(roles[o.label] == Role::number, ExitStatus::usage,
          fmt::format("{}: column \"{}\" is the label", path, columns[o.label]),
          "it is dropped, a category or the groups too", "Name another column with --label?");
  if (o.classes || !o.rules->positive.empty()) roles[o.label] = Role::label;
  return roles;
}

/// The columns of names as columns of 0 and 1, the others as they are; skipped ones go. `levels` by column.
void expand(const std::string& path, Table& table, const std::vector<Role>& roles,
            const std::vector<std::map<std::string, double, std::less<>>>& levels, Observations& o) {
  Table out;
  out.rows = table.rows;
  std::vector<std::pair<std::size_t, double>> made;  // of each column: from which, and the number that is 1
  const double itself = -1;
  std::size_t label = 0;
  for (std::size_t j = 0; j < roles.size(); ++j) {
    if (roles[j] == Role::skipped) continue;
    if (roles[j] == Role::group) {
      require(levels[j].size() > 1, ExitStatus::data,
              fmt::format("{}: column \"{}\" has one group alone", path, table.columns[j]),
              fmt::format("\"{}\" in all {} rows", levels[j].begin()->first, table.rows),
              "Is that the column of groups? Else leave --groups out?");
      std::vector<double> place(levels[j].size());
      for (const auto& [name, number] : levels[j])
        place[static_cast<std::size_t>(number)] = static_cast<double>(o.groups.size()), o.groups.push_back(name);
      for (std::size_t i = 0; i < table.rows; ++i)
        o.group.push_back(place[static_cast<std::size_t>(table.values[i * roles.size() + j])]);
      continue;
    }
    if (roles[j] != Role::category) {
      if (j == o.label) label = out.columns.size();
      out.columns.push_back(table.columns[j]), made.push_back({j, itself});
      continue;
    }
    require(levels[j].size() > 1 && levels[j].size() <= 1000, ExitStatus::data,
            fmt::format("{}: column \"{}\" has {} different names", path, table.columns[j], levels[j].size()),
            "2 to 1000 are wanted of categories", "Leave it out with --drop-columns?");
    for (auto level = std::next(levels[j].begin()); level != levels[j].end(); ++level)
      out.columns.push_back(table.columns[j] + "=" + level->first), made.push_back({j, level->second});
  }
  out.values.reserve(out.rows * out.columns.size());
  for (std::size_t i = 0; i < out.rows; ++i)
    for (const auto& [j, one] : made) {
      const double value = table.values[i * roles.size() + j];
      out.values.push_back(one == itself ? value : value == one);
    }
  o.label = label;
  table = std::move(out);
}

}  // namespace

Table parse_csv(const std::string& path, const std::string& text, Header header, Observations* observations) {
  std::string_view body = text;
  if (body.starts_with("\xEF\xBB\xBF")) body.remove_prefix(3);  // the mark that spreadsheets put before UTF-8
  if (const std::size_t zero = body.find('\0'); zero != body.npos)
    throw Error(ExitStatus::data, path + ": this is no text", fmt::format("byte {} is zero", zero),
                "Is it UTF-16, or another kind of file? Write it as UTF-8?");
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
  std::vector<Role> roles(width, Role::number);
  if (observations) roles = roles_of(path, table.columns, *observations);
  const bool drop = observations && observations->rules->missing == Missing::drop;

  const auto place = [&](std::size_t column) {
    std::string where = "line " + std::to_string(lines.number()) + ", column " + std::to_string(column + 1);
    return headed ? where + " " + in_quotes(table.columns[column]) : where;
  };
  const std::size_t estimate = body.size() / (line.size() + 1) + 1;
  table.values.reserve(width * (headed ? estimate : estimate + estimate / 8));
  Problems problems;
  std::vector<std::map<std::string, double, std::less<>>> levels(width);
  std::vector<std::string_view> fields;
  while (!lines.blank_from_here() && lines.next(&line)) {
    fields.clear();
    for (std::size_t begin = 0; begin <= line.size();) {
      std::size_t end = line.find(',', begin);
      if (end == std::string_view::npos) end = line.size();
      fields.push_back(unquoted(line.substr(begin, end - begin)));
      begin = end + 1;
    }
    // The count first: in a row that lost a field, every later complaint would name the wrong column.
    if (fields.size() != width) {
      const bool blank = trimmed(line).empty();
      const std::string at = "line " + std::to_string(lines.number());
      problems.add(Problems::ragged, lines.number(), 0,
                   blank ? "a blank line between the rows" : "a row has the wrong number of fields",
                   blank ? at : fmt::format("{} has {}, line 1 has {}", at, fields.size(), width),
                   blank ? "Remove the line?" : "Repair or remove the row?");
      continue;
    }
    ++table.rows;
    bool gap = false;
    if (drop)
      for (std::size_t j = 0; j < width; ++j) gap = gap || (roles[j] != Role::skipped && is_gap(fields[j]));
    if (gap) {
      --table.rows, ++observations->incomplete;
      continue;
    }
    for (std::size_t j = 0; j < width; ++j) {
      double value = 0;
      if (roles[j] == Role::number) {
        const Parsed parsed = parse_number(fields[j], &value);
        if (parsed != Parsed::number || !std::isfinite(value))
          add_bad_field(problems, fields[j], parsed, observations != nullptr, lines.number(), j, place(j));
      } else if (roles[j] != Role::skipped && fields[j].empty()) {
        add_bad_field(problems, fields[j], Parsed::text, true, lines.number(), j, place(j));
      } else if (roles[j] != Role::skipped && !is_utf8(fields[j])) {
        require_utf8(path, fields[j], place(j));
      } else if (roles[j] == Role::label) {
        observations->labels.emplace_back(fields[j]);
      } else if (roles[j] == Role::category || roles[j] == Role::group) {
        const auto known = levels[j].find(fields[j]);
        value = known != levels[j].end()
                    ? known->second
                    : levels[j].emplace(std::string(fields[j]), static_cast<double>(levels[j].size())).first->second;
      }
      table.values.push_back(value);
    }
  }
  if (problems.any()) problems.tell(path, table.rows, table.columns, observations);
  require(table.rows > 0 || !observations || observations->incomplete == 0, ExitStatus::data,
          path + ": every row has a gap", fmt::format("{} rows", observations ? observations->incomplete : 0),
          "Leave the columns out that are never complete, with --drop-columns?");
  require(table.rows > 0, ExitStatus::data, path + ": there are no rows below the header",
          std::to_string(width) + (width == 1 ? " column" : " columns") + ", 0 rows",
          "Is the file complete, and are its numbers separated by commas?");
  if (!headed) table.columns.resize(width);
  if (observations) expand(path, table, roles, levels, *observations);
  return table;
}

}  // namespace kilochain
