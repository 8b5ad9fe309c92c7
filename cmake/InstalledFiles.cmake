# Run at the end of an installation: lists what it consists of, for sinterUninstall.cmake, relative to the list, so that the
# installation may be moved.
cmake_path(ABSOLUTE_PATH FOLDER BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
set(lines "sinterFiles.txt\n")
foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${FOLDER}")
  string(APPEND lines "${file}\n")
endforeach()
file(WRITE "$ENV{DESTDIR}${FOLDER}/sinterFiles.txt" "${lines}")
