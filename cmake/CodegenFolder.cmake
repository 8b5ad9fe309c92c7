# Run while installing: writes the installation's folder of the code generator's module into FILES, over that of the build
# (src/device/cpu_codegen_folder.c). The prefix is known only now: cmake --install takes another with --prefix.
set(bytes 4096) # CPU_CODEGEN_FOLDER_BYTES
cmake_path(ABSOLUTE_PATH LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
cmake_path(IS_ABSOLUTE LIBDIR absolute)
set(folder "${LIBDIR}/sinter\n")
string(LENGTH "${folder}" length)
if(NOT absolute OR length GREATER bytes)
  message(FATAL_ERROR "The code generator cannot be found in ${folder}")
endif()
math(EXPR rest "${bytes} - ${length}")
string(REPEAT "\n" ${rest} rest)
string(RANDOM LENGTH 12 name) # several installations of a build may be made at the same time
set(section "${WORK}/sinter_folder-${name}")
file(WRITE "${section}" "${folder}${rest}")
foreach(file IN LISTS FILES)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
  execute_process(COMMAND "${OBJCOPY}" --update-section "sinter_folder=${section}" "$ENV{DESTDIR}${file}"
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(REMOVE "${section}")
