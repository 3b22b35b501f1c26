# cmake --install: library, headers, CMake package, program, manual page, completions, scenes.
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
  # Written by the program itself, from its list of commands and options.
  set(pages ${PROJECT_BINARY_DIR}/manual)
  add_custom_command(OUTPUT ${pages}/rotule.1.gz ${pages}/rotule.bash ${pages}/_rotule
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:rotule_program> -DOUT=${pages} -P ${PROJECT_SOURCE_DIR}/cmake/write_manual.cmake
    DEPENDS rotule_program ${PROJECT_SOURCE_DIR}/cmake/write_manual.cmake
    COMMENT "Manual page and completions" VERBATIM)
  add_custom_target(rotule_manual ALL DEPENDS ${pages}/rotule.1.gz ${pages}/rotule.bash ${pages}/_rotule)
  install(FILES ${pages}/rotule.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages}/rotule.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME rotule)
  install(FILES ${pages}/_rotule DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/rotule/scenes FILES_MATCHING PATTERN "*.json" PATTERN "*.obj" PATTERN "*.stl")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
