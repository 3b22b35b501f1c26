#include "record/growing_table.h"

#include <fmt/format.h>
#include <hdf5.h>
#include <rotule/error.h>

#include <algorithm>
#include <type_traits>

namespace rotule {

namespace {

constexpr std::size_t chunk_bytes = 1 << 16;

template <class T>
hid_t type_of_numbers() {
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  return H5T_NATIVE_INT64;
}

}  // namespace

template <class T>
GrowingTable<T>::GrowingTable(Hdf5File& file, const std::string& name, std::vector<Hdf5Size> row, const std::string& columns)
    : name_(name), row_(std::move(row)) {
  const std::string what = fmt::format("{} cannot be written", name);
  for (const Hdf5Size n : row_) row_size_ *= n;
  Extent extent{0}, most{H5S_UNLIMITED}, chunk{std::max<Hdf5Size>(1, chunk_bytes / (row_size_ * sizeof(T)))};
  for (auto* shape : {&extent, &most, &chunk}) shape->insert(shape->end(), row_.begin(), row_.end());
  const auto rank = static_cast<int>(extent.size());
  const Hdf5Handle space = file.check(H5Screate_simple(rank, extent.data(), most.data()), H5Sclose, what);
  const Hdf5Handle layout = file.check(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what);
  file.check(H5Pset_chunk(layout.id(), rank, chunk.data()), what);
  // Numbers are written once: zeros before them would cost as much again. An index is known by its zeros where it was not
  // written.
  if constexpr (!std::is_same_v<T, std::int64_t>) file.check(H5Pset_fill_time(layout.id(), H5D_FILL_TIME_NEVER), what);
  // Rows wait here and are written many at once: chunks that wait once more would be a copy of all of it for nothing.
  const Hdf5Handle access = file.check(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, what);
  file.check(H5Pset_chunk_cache(access.id(), 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT), what);
  dataset_ =
      file.check(H5Dcreate2(file.id(), name.c_str(), type_of_numbers<T>(), space.id(), H5P_DEFAULT, layout.id(), access.id()),
                 H5Dclose, what);
  if (!columns.empty()) file.attribute(name, "columns", columns);
}

template <class T>
GrowingTable<T>::GrowingTable(const Hdf5File& file, const std::string& name) : name_(name) {
  const std::string what = fmt::format("{} cannot be gone on with", name);
  const Extent extent = file.shape(name);
  if (extent.empty()) throw Error(file.path(), what);
  written_ = extent[0];
  row_.assign(extent.begin() + 1, extent.end());
  for (const Hdf5Size n : row_) row_size_ *= n;
  dataset_ = file.check(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose, what);
}

template <class T>
void GrowingTable<T>::flush(const Hdf5File& file) {
  if (waiting_.empty()) return;
  const std::string what = fmt::format("{} cannot be written", name_);
  const Hdf5Size count = waiting_.size() / row_size_;
  Extent start(1 + row_.size(), 0), extent{count}, whole{written_ + count};
  start[0] = written_;
  for (auto* shape : {&extent, &whole}) shape->insert(shape->end(), row_.begin(), row_.end());
  file.check(H5Dset_extent(dataset_.id(), whole.data()), what);
  const Hdf5Handle space = file.check(H5Dget_space(dataset_.id()), H5Sclose, what);
  file.check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr), what);
  const Hdf5Handle memory = file.check(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose, what);
  file.check(H5Dwrite(dataset_.id(), type_of_numbers<T>(), memory.id(), space.id(), H5P_DEFAULT, waiting_.data()), what);
  file.check(H5Dflush(dataset_.id()), what);
  written_ += count;
  waiting_.clear();
}

template class GrowingTable<double>;
template class GrowingTable<std::int32_t>;
template class GrowingTable<std::int64_t>;

}  // namespace rotule
