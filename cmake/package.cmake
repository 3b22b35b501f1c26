# cpack -G DEB: one package with program, library, headers, CMake config, scenes, manual page and completions.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rotule)
set(CPACK_PACKAGE_CONTACT "The Rotule developers <rotule@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "rigid bodies, joints, contact and springs, simulated with honest errors")
set(CPACK_PACKAGE_DESCRIPTION "A program that simulates scenes of rigid bodies, joints, contact, springs and particles, shows them in a
browser, and says of every step how wrong it is; with the C++ library that it is made of.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What programs that link the static library need; the program itself does without.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libeigen3-dev, libsuitesparse-dev, libtbb-dev, libhdf5-dev, libfmt-dev, libqhull-dev, libhwy-dev, libfftw3-dev, libpugixml-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "xdg-utils")
include(CPack)
