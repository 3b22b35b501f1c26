# cmake --install: library, headers, CMake package, program, scenes.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/rotule)

install(TARGETS rotule EXPORT rotuleTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/rotule DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT rotuleTargets NAMESPACE rotule:: DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/rotuleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/rotuleConfig.cmake cmake/dependencies.cmake ${CMAKE_CURRENT_BINARY_DIR}/rotuleConfigVersion.cmake
  DESTINATION ${package_folder})

if(TARGET rotule_program)
  install(TARGETS rotule_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/rotule/scenes FILES_MATCHING PATTERN "*.json" PATTERN "*.obj" PATTERN "*.stl")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
