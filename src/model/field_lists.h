#pragma once
// How the lists of fields of scenes are written: what a field may ask for, and the templates that the lists specialise.
#include <rotule/fields.h>

#include <string_view>
#include <type_traits>

namespace rotule {

/// What a field asks for beyond its type and range.
enum class Need {
  optional,
  required,
  direction,  // optional, but must not be the zero vector
};

/// Name in files and one line of description of a kind of joint or shape.
template <class T>
struct Kind;

template <class T>
struct SceneFields;

/// Calls visit(Field, member [, Need]) for every field of the struct.
template <class Self, class Visitor>
void visit_fields(Self& self, Visitor&& visit) {
  using T = std::remove_const_t<Self>;
  if constexpr (requires { T::fields(self, visit); }) {
    T::fields(self, visit);
  } else {
    SceneFields<T>::fields(self, visit);
  }
}

}  // namespace rotule
