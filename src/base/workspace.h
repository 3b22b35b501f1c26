#pragma once
// Memory that an algorithm keeps between calls, found by its type: each solver asks for its own struct and gets the same
// object back next time, so that nothing is allocated twice and nobody else needs to know what is in it.
#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

namespace rotule {

class Workspace {
 public:
  template <class T>
  T& get() {
    for (auto& [type, memory] : slots_)
      if (type == std::type_index(typeid(T))) return *static_cast<T*>(memory.get());
    slots_.emplace_back(std::type_index(typeid(T)), std::make_shared<T>());
    return *static_cast<T*>(slots_.back().second.get());
  }

 private:
  std::vector<std::pair<std::type_index, std::shared_ptr<void>>> slots_;
};

}  // namespace rotule
