# Finds LLVM's C API, any release from 18 on, 19 first: it is Debian 12's and the one measured most.
# Sets LLVMConfig_FOUND, LLVMConfig_STATIC, LLVMConfig_BYTES (the address space that it takes, once loaded, with the
# libraries it needs) and the imported target sinter_llvm_c.
#
# Static libraries are taken where there are any: what they bring of LLVM, for this machine's processor alone, is loaded in
# 2 ms, where libLLVM, with the code for all processors, and what it needs take 13. Not where sanitizers know libLLVM by its
# name, nor where linking is to be soon done.
find_program(LLVM_CONFIG NAMES llvm-config-19 llvm-config-20 llvm-config-21 llvm-config-22 llvm-config-18 llvm-config
             DOC "llvm-config of LLVM 18 or later")
option(SINTER_STATIC_LLVM "Link LLVM's static libraries into the code generator, where there are any" ON)

function(llvm_says variable)
  execute_process(COMMAND ${LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(said "")
  endif()
  set(${variable} "${said}" PARENT_SCOPE)
endfunction()

# Into LLVMConfig_BYTES.
function(llvm_measure file)
  try_run(ran compiled ${CMAKE_BINARY_DIR}/loaded-size ${CMAKE_CURRENT_LIST_DIR}/LoadedSize.c
          LINK_LIBRARIES ${CMAKE_DL_LIBS} RUN_OUTPUT_VARIABLE bytes ARGS ${file})
  if(NOT compiled OR NOT ran EQUAL 0)
    file(REAL_PATH ${file} file)
    file(SIZE ${file} bytes)
    math(EXPR bytes "${bytes} + (108 << 20)")
  endif()
  set(LLVMConfig_BYTES ${bytes} CACHE INTERNAL "Address space that LLVM takes")
endfunction()

# The libraries of the system that static ones need. Some are named that nothing calls, and are not installed; for others
# there is no file for linking, but the one for running, which does.
function(llvm_system_libraries variable)
  llvm_says(named --link-static --system-libs native passes irreader linker)
  separate_arguments(named)
  set(found "")
  foreach(one IN LISTS named)
    string(REGEX REPLACE "^-l" "" name "${one}")
    unset(path)
    find_library(path NAMES ${name} lib${name}.so.1 NO_CACHE)
    if(path)
      list(APPEND found ${path})
    endif()
  endforeach()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# A library as the code generator will be: whether it links with these options, and its size.
function(llvm_try_static)
  set(options ${LLVMConfig_STATIC_OPTIONS} ${ARGN})
  llvm_says(archives --link-static --libfiles native passes irreader linker)
  separate_arguments(archives)
  if(NOT archives)
    return()
  endif()
  llvm_system_libraries(system)
  set(probe ${CMAKE_BINARY_DIR}/llvm-probe.so)
  string(MAKE_C_IDENTIFIER "llvm-probe${ARGN}" folder)
  try_compile(linked ${CMAKE_BINARY_DIR}/${folder} ${CMAKE_CURRENT_LIST_DIR}/LLVMProbe.cpp
              CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${LLVMConfig_INCLUDE} -DCMAKE_POSITION_INDEPENDENT_CODE=ON
              COMPILE_DEFINITIONS -fPIC
              LINK_OPTIONS -shared ${options} LINK_LIBRARIES ${archives} ${system}
              COPY_FILE ${probe} CXX_STANDARD 17)
  if(linked)
    llvm_measure(${probe})
    file(REMOVE ${probe})
    set(LLVMConfig_STATIC_LIBS "${archives};${system}" CACHE INTERNAL "Static libraries and what they need")
    set(LLVMConfig_STATIC_CXX "${ARGN}" CACHE INTERNAL "How the library of C++ is linked with them")
  endif()
endfunction()

set(LLVMConfig_VERSION "")
set(LLVMConfig_FOUND FALSE)
set(LLVMConfig_STATIC FALSE)
set(LLVMConfig_STATIC_OPTIONS LINKER:--exclude-libs,ALL LINKER:-z,defs LINKER:--gc-sections LINKER:--as-needed)
if(LLVM_CONFIG)
  llvm_says(LLVMConfig_VERSION --version)
  llvm_says(LLVMConfig_INCLUDE --includedir)
  llvm_says(LLVMConfig_LIBDIR --libdir)
  llvm_says(LLVMConfig_LIBS --link-shared --libs)
  llvm_says(files --link-shared --libfiles)
  separate_arguments(files)
  if(SINTER_STATIC_LLVM AND CMAKE_CXX_COMPILER AND NOT SINTER_SANITIZE AND NOT SINTER_SHARED_TESTS)
    set(wanted static)
  else()
    set(wanted shared)
  endif()
  # Of a shared library of C++ 3,000 names that LLVM's tables hold are looked up while loading.
  set(own_cxx -static-libstdc++)
  set(measured "${wanted}, ${own_cxx}, ${LLVMConfig_LIBDIR}, ${files} ${LLVMConfig_VERSION}")
  if(NOT "${LLVMConfig_MEASURED}" STREQUAL "${measured}")
    set(LLVMConfig_STATIC_LIBS "" CACHE INTERNAL "")
    if(wanted STREQUAL static)
      llvm_try_static(${own_cxx})
      if(NOT LLVMConfig_STATIC_LIBS)
        llvm_try_static()
      endif()
    endif()
    if(files AND NOT LLVMConfig_STATIC_LIBS)
      list(GET files 0 file)
      llvm_measure(${file})
    endif()
    set(LLVMConfig_MEASURED "${measured}" CACHE INTERNAL "What was measured")
  endif()
endif()

if(LLVMConfig_VERSION VERSION_GREATER_EQUAL 18 AND (LLVMConfig_STATIC_LIBS OR LLVMConfig_LIBS))
  set(LLVMConfig_FOUND TRUE)
  add_library(sinter_llvm_c INTERFACE)
  target_include_directories(sinter_llvm_c SYSTEM INTERFACE ${LLVMConfig_INCLUDE})
  if(LLVMConfig_STATIC_LIBS)
    set(LLVMConfig_STATIC TRUE)
    target_link_options(sinter_llvm_c INTERFACE ${LLVMConfig_STATIC_OPTIONS} ${LLVMConfig_STATIC_CXX})
    target_link_libraries(sinter_llvm_c INTERFACE ${LLVMConfig_STATIC_LIBS})
  else()
    target_link_directories(sinter_llvm_c INTERFACE ${LLVMConfig_LIBDIR})
    separate_arguments(LLVMConfig_LIBS)
    target_link_libraries(sinter_llvm_c INTERFACE ${LLVMConfig_LIBS})
  endif()
endif()
