#pragma once
// How solvers hold the matrix A, and in which order sweeps visit its rows.
#include <rotule/fields.h>

#include <string_view>
#include <variant>

namespace rotule {

// How a solver holds the matrix A.
struct AutomaticStorage {
  static constexpr std::string_view name = "automatic";
  static constexpr std::string_view summary = "sparse or matrix-free, by the count of multiplications";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct DenseStorage {
  static constexpr std::string_view name = "dense";
  static constexpr std::string_view summary = "all of A: quadratic in rows, for small systems and comparison";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct SparseStorage {
  static constexpr std::string_view name = "sparse";
  static constexpr std::string_view summary = "the non-zeros of A by rows, the diagonal first";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct MatrixFreeStorage {
  static constexpr std::string_view name = "matrix_free";
  static constexpr std::string_view summary = "J and M alone, the bodies' velocities being kept up to date";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
using RowStorage = std::variant<SparseStorage, DenseStorage, MatrixFreeStorage>;
using BlockStorage = std::variant<AutomaticStorage, SparseStorage, MatrixFreeStorage>;

// In which order a sweep visits the rows.
struct NaturalOrder {
  static constexpr std::string_view name = "natural";
  static constexpr std::string_view summary = "as the problem lists them";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct ReverseOrder {
  static constexpr std::string_view name = "reverse";
  static constexpr std::string_view summary = "from the last to the first";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct SymmetricOrder {
  static constexpr std::string_view name = "symmetric";
  static constexpr std::string_view summary = "to and fro in turns";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct StaggeredOrder {
  static constexpr std::string_view name = "staggered";
  static constexpr std::string_view summary = "joints and normals first, then friction";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct RandomOrder {
  static constexpr std::string_view name = "random";
  static constexpr std::string_view summary = "shuffled anew for every sweep, the same way for the same seed";
  int seed = 1;
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"seed", "", "of the random numbers", 0, 2147483647}, s.seed);
  }
};
using SweepOrder = std::variant<NaturalOrder, ReverseOrder, SymmetricOrder, StaggeredOrder, RandomOrder>;

}  // namespace rotule
