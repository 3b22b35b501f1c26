// Constraint problems and their solvers. A Problem owns its arrays; what Python is shown are views of them, which keep it alive.
// Its sizes never change, so that no view can lose its memory.
#include <rotule/problem.h>
#include <rotule/solve.h>

#include <memory>

#include "interrupts.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "world_handle.h"

namespace rotule::python {
namespace {

using Problem = ConstraintProblem;
using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

template <class T>
py::array_t<T> view(const py::object& owner, T* data, std::vector<py::ssize_t> shape) {
  return py::array_t<T>(std::move(shape), data, owner);
}

/// Adds a property that is a view of one of the problem's vectors.
void add_vector(py::class_<Problem, std::shared_ptr<Problem>>& problem, const char* name, VecX Problem::*member,
                const char* doc) {
  problem.def_property_readonly(
      name,
      [member](const py::object& self) {
        VecX& v = py::cast<Problem&>(self).*member;
        return view(self, v.data(), {v.size()});
      },
      doc);
}

void add_jacobian(py::class_<Problem, std::shared_ptr<Problem>>& problem, const char* name, JacobianRows Problem::*member,
                  const char* doc) {
  problem.def_property_readonly(
      name,
      [member](const py::object& self) {
        JacobianRows& J = py::cast<Problem&>(self).*member;
        return view(self, J.data(), {J.rows(), 6});
      },
      doc);
}

using BlockTuple = std::tuple<int, int, int>;                   // rows, body_a, body_b
using FrictionTuple = std::tuple<int, int, int, bool, double>;  // first_row, count, normal_row, cone, mu

std::shared_ptr<Problem> make_problem(int bodies, const std::vector<BlockTuple>& blocks,
                                      const std::vector<FrictionTuple>& friction, double h) {
  if (bodies < 0) throw py::value_error("the number of bodies must not be negative");
  auto problem = std::make_shared<Problem>();
  int rows = 0;
  for (const auto& [count, a, b] : blocks) {
    if (count < 1 || count > 6) throw py::value_error("a block has 1 to 6 rows");
    problem->blocks.push_back({.first_row = rows, .rows = count, .body_a = a, .body_b = b});
    rows += count;
  }
  problem->resize(bodies, rows);
  problem->J_a.setZero();
  problem->J_b.setZero();
  problem->b.setZero();
  for (Mat6& m : problem->inverse_mass) m.setIdentity();
  problem->coupled = true;
  for (const auto& [first, count, normal, cone, mu] : friction) problem->friction.push_back({first, count, normal, cone, mu});
  problem->h = h;
  return problem;
}

std::span<const double> numbers(const Problem& problem, const Numbers& x) {
  if (x.ndim() != 1 || x.shape(0) != problem.rows())
    throw py::value_error("x must have one number per row, " + std::to_string(problem.rows()));
  return {x.data(), static_cast<std::size_t>(x.size())};
}

py::tuple solve_by(Solver& solver, const Problem& problem) {
  std::vector<double> x(static_cast<std::size_t>(problem.rows()), 0.0);
  SolveReport report = at_once([&] { return solver.solve(problem, x); });
  const auto rows = static_cast<py::ssize_t>(x.size());
  return py::make_tuple(array_of(std::move(x), {rows}), std::move(report));
}

void add_reports(py::module_& module) {
  Record<SolveReport>(module, "SolveReport", "What a solver did.")
      .field("iterations", &SolveReport::iterations, "how many")
      .field("residual", &SolveReport::residual, "scale-free, of the last check that the solver made")
      .field("converged", &SolveReport::converged, "whether it reached its tolerance")
      .field("smallest_pivot", &SolveReport::smallest_pivot, "over its diagonal entry, where the solver has pivots")
      .field("redundant_rows", &SolveReport::redundant_rows, "rows that others imply")
      .value(
          "solver", [](const SolveReport& report) { return std::string(report.solver); }, "who gave the answer");
  Record<Residual>(module, "Residual", "How wrong an answer is, whoever gave it.")
      .field("sum", &Residual::sum, "of all rows")
      .field("max", &Residual::max, "the largest row")
      .field("relative", &Residual::relative, "Euclidean, over that of b, as FCLIB has it")
      .field("scale_free", &Residual::scale_free, "velocity that is wrong over velocity that is at stake, the worst row");
}

void add_problem_class(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(ConstraintBlock, first_row, rows, body_a, body_b, source, first_more, more_count);
  PYBIND11_NUMPY_DTYPE(FrictionRows, first_row, count, normal_row, cone, mu);
  py::class_<Problem, std::shared_ptr<Problem>> problem(module, "Problem",
                                                        "w = A x - b with A = J M^-1 J^T + C, lower <= x <= upper, friction "
                                                        "cones or boxes: the algebra of one island for one step. All "
                                                        "arrays are views that can be written.");
  problem
      .def(py::init(&make_problem), py::arg("bodies"), py::arg("blocks"), py::arg("friction") = std::vector<FrictionTuple>{},
           py::arg("h") = 1.0,
           "blocks: (rows, body_a, body_b) each, -1 for what never moves; friction: (first_row, count, normal_row, cone, mu) "
           "each. J, b, C "
           "and x0 are zero, rows bilateral and inverse masses one until they are written.")
      .def_property_readonly("bodies", &Problem::bodies, "how many there are")
      .def_property_readonly("rows", &Problem::rows, "how many there are")
      .def_readwrite("h", &Problem::h, "s: x / h is in newtons where x is an impulse")
      .def_property_readonly(
          "inverse_mass",
          [](const py::object& self) {
            auto& m = py::cast<Problem&>(self).inverse_mass;
            constexpr py::ssize_t number = sizeof(double);
            // Symmetric: which of the two last indices is the faster one does not matter.
            return py::array_t<double>({static_cast<py::ssize_t>(m.size()), py::ssize_t(6), py::ssize_t(6)},
                                       {36 * number, 6 * number, number}, m.empty() ? nullptr : m.front().data(), self);
          },
          "(bodies, 6, 6), symmetric")
      .def_property_readonly(
          "blocks",
          [](const py::object& self) {
            auto& blocks = py::cast<Problem&>(self).blocks;
            return view(self, blocks.data(), {static_cast<py::ssize_t>(blocks.size())});
          },
          "first_row, rows, body_a, body_b, source, first_more, more_count")
      .def_property_readonly(
          "friction",
          [](const py::object& self) {
            auto& friction = py::cast<Problem&>(self).friction;
            return view(self, friction.data(), {static_cast<py::ssize_t>(friction.size())});
          },
          "first_row, count, normal_row, cone, mu")
      .def(
          "validate", [](const Problem& self) { validate(self); },
          "Raises Error where arrays disagree or numbers are not finite.")
      .def(
          "why_not",
          [](const Problem& self, const py::object& solver) {
            validate(self);  // its arrays may have been written
            return why_not(self, solver_of(solver));
          },
          py::arg("solver"), "Why this solver cannot take this problem; empty where it can.");
  add_jacobian(problem, "J_a", &Problem::J_a, "(rows, 6) of each block's body_a: linear, then angular");
  add_jacobian(problem, "J_b", &Problem::J_b, "(rows, 6) of each block's body_b");
  add_vector(problem, "b", &Problem::b, "right-hand side");
  add_vector(problem, "C", &Problem::C, "compliance, a diagonal");
  add_vector(problem, "lower", &Problem::lower, "bounds of x; -inf where there is none");
  add_vector(problem, "upper", &Problem::upper, "bounds of x; inf where there is none");
  add_vector(problem, "x0", &Problem::x0, "where iterations start");
}

void add_problems_of_worlds(py::module_& module) {
  world_class(module)
      .def(
          "keep_problems", [](WorldHandle& self, bool keep) { self.world().keep_problems(keep); }, py::arg("keep") = true,
          "Asks every step to keep the algebra that it solved.")
      .def(
          "problem", [](WorldHandle& self, int island) { return std::make_shared<Problem>(self.world().problem(island)); },
          py::arg("island"), "The last step's problem of an island (a copy, of one's own), where problems are kept.")
      .def(
          "multipliers",
          [](WorldHandle& self, int island) {
            const std::span<const double> x = self.world().multipliers(island);
            return array_of(std::vector<double>(x.begin(), x.end()), {static_cast<py::ssize_t>(x.size())});
          },
          py::arg("island"), "The run's own answer to it (a copy).");
}

}  // namespace

void add_problems(py::module_& module) {
  add_reports(module);
  add_problem_class(module);
  add_problems_of_worlds(module);
  py::class_<Solver>(module, "Solver", "A solver with its memory: problems of the same structure cost no new symbolic work.")
      .def(py::init([](const py::object& solver) { return std::make_unique<Solver>(solver_of(solver)); }), py::arg("solver"),
           "A name (rotule.solver_names()), or a dict with a name and settings.")
      .def("solve", &solve_by, py::arg("problem"), "The answer x, one number per row, and the report.");
  module.def(
      "solve",
      [](const Problem& problem, const py::object& solver) {
        Solver once(solver_of(solver));
        return solve_by(once, problem);
      },
      py::arg("problem"), py::arg("solver") = "auto", "The answer x of a problem, and the solver's report.");
  module.def(
      "residual",
      [](const Problem& problem, const Numbers& x) {
        validate(problem);
        return residual(problem, numbers(problem, x));
      },
      py::arg("problem"), py::arg("x"), "How wrong x is.");
  module.def(
      "read_problem",
      [](const std::string& path, std::int64_t frame, int island) {
        if (is_fclib_file(path)) return std::make_shared<Problem>(read_fclib(path));
        return std::make_shared<Problem>(read_problem(path, frame, island).problem);
      },
      py::arg("path"), py::arg("frame") = 0, py::arg("island") = 0,
      "A problem from a file of `rotule run --record-problems`, or of FCLIB, which holds one.");
  module.def("recorded_frames", &recorded_frames, py::arg("path"), "The steps whose problems a file of rotule's own holds.");
}

}  // namespace rotule::python
