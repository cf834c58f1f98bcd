// Fields of a table, visit(name, value), into a JSON object and back: numbers, texts, arrays of numbers as bytes. What
// is read has the bits of what was written.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

namespace kilochain {

/// Where most numbers are 0, as in a diagonal factor, only the others and their places are written.
struct ToJson {
  nlohmann::json& out;
  template <class T>
  void operator()(const char* name, const T& value) const {
    out[name] = value;
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& values) const {
    const std::size_t size = values.size();
    if constexpr (std::is_same_v<T, double>) {
      std::vector<std::uint64_t> at;
      for (std::size_t k = 0; k < size && 8 * at.size() <= size; ++k)
        if (std::bit_cast<std::uint64_t>(values[k]) != 0) at.push_back(k);
      if (8 * at.size() < size) {
        std::vector<double> others;
        for (const auto k : at) others.push_back(values[k]);
        out[name] = {{"size", size}, {"at", bytes_of(at)}, {"values", bytes_of(others)}};
        return;
      }
    }
    out[name] = bytes_of(values);
  }

 private:
  template <class T>
  static nlohmann::json bytes_of(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    return nlohmann::json::binary({bytes, bytes + values.size() * sizeof(T)});
  }
};
struct FromJson {
  const nlohmann::json& in;
  template <class T>
  void operator()(const char* name, T& value) const {
    in.at(name).get_to(value);
  }
  template <class T>
  void operator()(const char* name, std::vector<T>& values) const {
    const nlohmann::json& field = in.at(name);
    if (field.is_binary()) {
      read(field, values);
      return;
    }
    std::vector<std::uint64_t> at;
    std::vector<T> others;
    read(field.at("at"), at), read(field.at("values"), others);
    values.assign(field.at("size").get<std::size_t>(), T{});
    for (std::size_t k = 0; k < at.size(); ++k) values.at(at[k]) = others.at(k);
  }

 private:
  template <class T>
  static void read(const nlohmann::json& field, std::vector<T>& values) {
    const auto& bytes = field.get_binary();
    values.resize(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
};

}  // namespace kilochain
