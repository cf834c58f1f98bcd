// What is wrong with a table, gathered while csv.cpp reads it: one message tells all of it.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "targets/data/csv.hpp"

namespace kilochain {

enum class Parsed { number, text, out_of_range };

// Long or unprintable fields would drown the message.
inline std::string in_quotes(std::string_view field) {
  std::string out = "\"";
  for (char c : field.substr(0, 40)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return out + (field.size() > 40 ? "...\"" : "\"");
}

// Everything that is wrong with a table: the first of each kind, and how many.
class Problems {
 public:
  enum Kind { ragged, missing, text, not_finite, out_of_range, kinds };
  void add(Kind kind, std::size_t line, std::size_t column, std::string what, std::string where, std::string fix) {
    Problem& p = of_[kind];
    if (p.count++ == 0) p = {1, line, column, std::move(what), std::move(where), std::move(fix)};
  }
  void add_text(std::string_view field, std::size_t line, std::size_t column, std::string where, std::string fix) {
    Texts& t = texts_[column];
    if (t.count++ == 0) t.first = field;
    add(text, line, column, in_quotes(field) + " is not a number", std::move(where), std::move(fix));
  }
  bool any() const {
    return std::any_of(of_.begin(), of_.end(), [](const Problem& p) { return p.count > 0; });
  }
  /// Throws the first, with what it knows of the others. A column of text alone is offered what text can be.
  [[noreturn]] void tell(const std::string& path, std::size_t rows, const std::vector<std::string>& columns,
                         const Observations* observations) {
    if (observations) offer(rows, columns, observations->label);
    const Problem* first = nullptr;
    for (const Problem& p : of_)
      if (p.count > 0 && (!first || p.line < first->line)) first = &p;
    std::string where = first->where;
    if (first->count > 1) where += fmt::format("; {} such {}", first->count, first == &of_[ragged] ? "rows" : "fields");
    for (const Problem& p : of_)
      if (p.count > 0 && &p != first)
        where += fmt::format("; also {}: {}{}", p.what, p.where,
                             p.count > 1 ? fmt::format(" and {} more", p.count - 1) : "");
    throw Error(ExitStatus::data, path + ": " + first->what, where, first->fix);
  }

 private:
  struct Problem {
    std::size_t count = 0, line = 0, column = 0;
    std::string what, where, fix;
  };
  /// Columns of text alone are offered what text can be, all of them at once.
  void offer(std::size_t rows, const std::vector<std::string>& columns, std::size_t label) {
    std::string names, fix;
    for (const auto& [column, texts] : texts_)
      if (column != label && texts.count == rows && rows > 1) names += (names.empty() ? "" : ",") + columns[column];
    if (!names.empty())
      fix = fmt::format("Try --categories {0} where names count, --drop-columns {0} where not", names);
    if (const auto found = texts_.find(label); found != texts_.end() && found->second.count == rows && rows > 1)
      fix += fmt::format("{}the label that counts as 1, as in --positive {}", fix.empty() ? "Try " : ", and ",
                         found->second.first);
    if (!fix.empty()) of_[text].fix = fix + "?";
  }
  struct Texts {
    std::size_t count = 0;
    std::string first;
  };
  std::array<Problem, kinds> of_;
  std::map<std::size_t, Texts> texts_;  // by column
};

inline bool is_gap(std::string_view field) {
  for (const char* mark : {"", "NA", "N/A", "nan", "NaN", "NAN", "null", "NULL", "?"})
    if (field == mark) return true;
  return false;
}

inline void add_bad_field(Problems& problems, std::string_view field, Parsed parsed, bool can_drop, std::size_t line,
                          std::size_t column, std::string where) {
  const char* const write = "Remove the row or write a number?";
  const std::string quoted = in_quotes(field);
  if (is_gap(field))
    problems.add(Problems::missing, line, column,
                 field.empty() ? "a value is missing"
                               : quoted + (parsed == Parsed::number ? " is not a finite number" : " is not a number"),
                 std::move(where), can_drop ? "Write a number, or leave such rows out with --missing drop?" : write);
  else if (parsed == Parsed::out_of_range)
    problems.add(Problems::out_of_range, line, column, quoted + " is outside the range of a double", std::move(where),
                 "Rescale the column or remove the row?");
  else if (parsed == Parsed::number)
    problems.add(Problems::not_finite, line, column, quoted + " is not a finite number", std::move(where), write);
  else
    problems.add_text(field, line, column, std::move(where), write);
}

}  // namespace kilochain
