# Finds libLLVM's C API, any release from 18 on, 19 first: it is Debian 12's and the one measured most.
# Sets LLVMConfig_FOUND, LLVMConfig_BYTES (the address space that it takes, once loaded, with the libraries it needs) and
# the imported target sinter_llvm_c.
find_program(LLVM_CONFIG NAMES llvm-config-19 llvm-config-20 llvm-config-21 llvm-config-22 llvm-config-18 llvm-config
             DOC "llvm-config of LLVM 18 or later")
set(LLVMConfig_VERSION "")
if(LLVM_CONFIG)
  execute_process(COMMAND ${LLVM_CONFIG} --version OUTPUT_VARIABLE LLVMConfig_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE LLVMConfig_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE LLVMConfig_LIBDIR OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM_CONFIG} --link-shared --libs OUTPUT_VARIABLE LLVMConfig_LIBS ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM_CONFIG} --link-shared --libfiles OUTPUT_VARIABLE files ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(files)
  if(files AND NOT "${LLVMConfig_MEASURED}" STREQUAL "${files} ${LLVMConfig_VERSION}")
    list(GET files 0 file)
    try_run(ran compiled ${CMAKE_BINARY_DIR}/loaded-size ${CMAKE_CURRENT_LIST_DIR}/LoadedSize.c
            LINK_LIBRARIES ${CMAKE_DL_LIBS} RUN_OUTPUT_VARIABLE bytes ARGS ${file})
    if(NOT compiled OR NOT ran EQUAL 0)
      file(REAL_PATH ${file} file)
      file(SIZE ${file} bytes)
      math(EXPR bytes "${bytes} + (108 << 20)")
    endif()
    set(LLVMConfig_BYTES ${bytes} CACHE INTERNAL "Address space that libLLVM takes")
    set(LLVMConfig_MEASURED "${files} ${LLVMConfig_VERSION}" CACHE INTERNAL "The library that was measured")
  endif()
endif()

if(LLVMConfig_LIBS AND LLVMConfig_VERSION VERSION_GREATER_EQUAL 18)
  set(LLVMConfig_FOUND TRUE)
  add_library(sinter_llvm_c INTERFACE)
  target_include_directories(sinter_llvm_c SYSTEM INTERFACE ${LLVMConfig_INCLUDE})
  target_link_directories(sinter_llvm_c INTERFACE ${LLVMConfig_LIBDIR})
  separate_arguments(LLVMConfig_LIBS)
  target_link_libraries(sinter_llvm_c INTERFACE ${LLVMConfig_LIBS})
else()
  set(LLVMConfig_FOUND FALSE)
endif()
