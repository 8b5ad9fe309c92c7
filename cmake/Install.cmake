# What `cmake --install` puts where: GNU layout, a CMake package, a pkg-config file, manual pages, documents, examples.
include(CMakePackageConfigHelpers)
set(SINTER_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sinter)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sinter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS sinter_static sinter_shared EXPORT sinterTargets)
install(EXPORT sinterTargets NAMESPACE sinter:: DESTINATION ${SINTER_PACKAGE_DIR})
if(TARGET sinter-llvm)
  install(TARGETS sinter-llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sinter)
endif()
install(TARGETS sinter-info sinter-export)
# They look for the module there from now on, and no longer in this build's folder.
install(CODE "set(OBJCOPY \"${CMAKE_OBJCOPY}\")
set(WORK \"${CMAKE_BINARY_DIR}\")
set(LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
set(FILES
    \"${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:sinter_shared>\"
    \"${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:sinter_static>\"
    \"${CMAKE_INSTALL_BINDIR}/$<TARGET_FILE_NAME:sinter-info>\"
    \"${CMAKE_INSTALL_BINDIR}/$<TARGET_FILE_NAME:sinter-export>\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/CodegenFolder.cmake)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sinterConfig.cmake.in ${CMAKE_BINARY_DIR}/sinterConfig.cmake
                              INSTALL_DESTINATION ${SINTER_PACKAGE_DIR})
# Before 1.0 a minor release may break the interface, so the package matches on it.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sinterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sinterConfig.cmake ${CMAKE_BINARY_DIR}/sinterConfigVersion.cmake
        DESTINATION ${SINTER_PACKAGE_DIR})

# Relative to itself, so that an installation may be moved or installed with another --prefix.
file(RELATIVE_PATH SINTER_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
cmake_path(APPEND SINTER_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
cmake_path(APPEND SINTER_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
configure_file(${PROJECT_SOURCE_DIR}/cmake/sinter.pc.in ${CMAKE_BINARY_DIR}/sinter.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sinter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/docs/man/sinter.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/sinter-info.1 ${PROJECT_SOURCE_DIR}/docs/man/sinter-export.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# The documents in the order of the sources, so that their links hold; the examples build by themselves there.
foreach(file README.md CONTRIBUTING.md CHANGELOG.md LICENSE)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/bench/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/data DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Removing it again.
install(FILES ${PROJECT_SOURCE_DIR}/cmake/sinterUninstall.cmake DESTINATION ${SINTER_PACKAGE_DIR})
install(CODE "set(FOLDER \"${SINTER_PACKAGE_DIR}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstalledFiles.cmake) # the last step of all
cmake_path(ABSOLUTE_PATH SINTER_PACKAGE_DIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE package)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${package}/sinterUninstall.cmake
                  COMMENT "Removing what is installed in ${CMAKE_INSTALL_PREFIX}" VERBATIM)
