// A target that a program makes itself, from a C function or from a model's class and data in memory.
// It has a name while the object lives, and Options::target takes that name as any other:
//   const OwnTarget mine("mine", FunctionDensity{.one = f, .user_data = &data, .dim = 5});
//   const auto schools = OwnTarget::of<EightSchools>("schools", [&](Loader& at) { return EightSchools::Data{...}; });
// On the CPU, but for a function of device pointers. Several live side by side, in runs at the same time too.
#pragma once
#include "host/chains/cpu_target.hpp"
#include "host/registry/registry.hpp"
#include "model/model.hpp"
#include "targets/external/functions.hpp"

namespace kilochain {

class OwnTarget {
 public:
  /// Throws an Error (usage) when a target of that name is there.
  OwnTarget(const std::string& name, const FunctionDensity& density);
  OwnTarget(const std::string& name, TargetMakers makers,
            const char* cpu_only = "targets of a program's own run on the CPU");
  ~OwnTarget();
  OwnTarget(const OwnTarget&) = delete;
  const std::string& name() const { return entry_->name; }

  /// A model of a user (model/model.hpp). load(loader) makes its Data, with arrays that the loader has put in place;
  /// it is called when a run is prepared.
  template <class Model>
  static OwnTarget of(const std::string& name, std::function<typename Model::Data(Loader&)> load) {
#if defined(KILOCHAIN_NATIVE) && !defined(KILOCHAIN_FLAGS)
    static_assert(sizeof(Model) == 0,
                  "a model is made of the library's vectors: link this file to kilochain::flags too");
#endif
    return {name, {make<Model, float>(load), make<Model, double>(load)}};
  }

 private:
  OwnTarget(TargetEntry entry, TargetMakers makers, const char* cpu_only);
  template <class Model>
  struct Loaded : Model {
    struct Settings {
      std::function<typename Model::Data(Loader&)> load;
    };
    template <class V>
    static void settings(V&&, Settings&) {}
    static typename Model::Data load(const Settings& s, Loader& loader) { return s.load(loader); }
  };
  template <class Model, class Real>
  static auto make(const std::function<typename Model::Data(Loader&)>& load) {
    return [load](const Context& context, const SettingTexts&) -> std::unique_ptr<Target<Real>> {
      return std::make_unique<CpuTarget<ModelTarget<Loaded<Model>, Real>, Real>>(
          context, typename Loaded<Model>::Settings{load});
    };
  }

  std::shared_ptr<const TargetEntry> entry_;
};

/// Null where no target of a program's own has that name.
const TargetEntry* find_own_target(const std::string& name);

}  // namespace kilochain
