#pragma once
// A table in an HDF5 file that rows are appended to while a program runs: gathered in memory, written many at once, and safe on
// the disk after `flush`.
#include <cstdint>
#include <string>
#include <vector>

#include "record/hdf5_file.h"

namespace rotule {

template <class T>
class GrowingTable {
 public:
  /// Makes the table, of rows of this many numbers (one number: a list). `columns` says what they are.
  GrowingTable(Hdf5File& file, const std::string& name, std::vector<Hdf5Size> row, const std::string& columns = {});

  /// One that is there, to go on behind its last row.
  GrowingTable(const Hdf5File& file, const std::string& name);

  void append(const T* values, std::size_t rows) { waiting_.insert(waiting_.end(), values, values + rows * row_size_); }
  /// Rows so far, those that wait included.
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(written_ + waiting_.size() / row_size_); }
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_.size() * sizeof(T); }
  /// Writes what waits.
  void flush(const Hdf5File& file);
  /// Before the file is closed.
  void close() { dataset_.reset(); }

 private:
  std::string name_;
  std::vector<Hdf5Size> row_;
  std::size_t row_size_ = 1;
  Hdf5Size written_ = 0;
  std::vector<T> waiting_;
  Hdf5Handle dataset_;
};

extern template class GrowingTable<double>;
extern template class GrowingTable<std::int32_t>;
extern template class GrowingTable<std::int64_t>;

}  // namespace rotule
