# What the library is built from and, being static, what those who link it need too: the build and the installed package both
# include this file.
include(CMakeFindDependencyMacro)
find_dependency(Eigen3 3.4)
find_dependency(TBB)
find_dependency(fmt)
find_dependency(Qhull)
find_dependency(hwy)
find_dependency(pugixml)

# FFTW's own config files are not packaged everywhere.
if(NOT TARGET fftw3::fftw3)
  find_path(ROTULE_FFTW_INCLUDE fftw3.h)
  find_library(ROTULE_FFTW_LIBRARY NAMES fftw3)
  mark_as_advanced(ROTULE_FFTW_INCLUDE ROTULE_FFTW_LIBRARY)
  if(NOT ROTULE_FFTW_INCLUDE OR NOT ROTULE_FFTW_LIBRARY)
    message(FATAL_ERROR "FFTW is missing (Debian: libfftw3-dev)")
  endif()
  add_library(fftw3::fftw3 UNKNOWN IMPORTED)
  set_target_properties(fftw3::fftw3 PROPERTIES
    IMPORTED_LOCATION ${ROTULE_FFTW_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ROTULE_FFTW_INCLUDE})
endif()

# CMake's own search for HDF5 asks for the language C, which a C++ project need not have switched on.
if(NOT TARGET hdf5::hdf5)
  find_path(ROTULE_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial)
  find_library(ROTULE_HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
  mark_as_advanced(ROTULE_HDF5_INCLUDE ROTULE_HDF5_LIBRARY)
  if(NOT ROTULE_HDF5_INCLUDE OR NOT ROTULE_HDF5_LIBRARY)
    message(FATAL_ERROR "HDF5 is missing (Debian: libhdf5-dev)")
  endif()
  add_library(hdf5::hdf5 UNKNOWN IMPORTED)
  set_target_properties(hdf5::hdf5 PROPERTIES
    IMPORTED_LOCATION ${ROTULE_HDF5_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ROTULE_HDF5_INCLUDE})
endif()
