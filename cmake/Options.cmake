# Compiler options shared by every target: language level, warnings, floating-point rules, sanitizers.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
if(SINTER_SHARED_TESTS)
  set(CMAKE_LINK_DEPENDS_NO_SHARED ON) # programs are not linked again when the library changes
else()
  set(CMAKE_C_VISIBILITY_PRESET hidden)
endif()

# Sinter runs on POSIX with GNU extensions of the C library (affinity, madvise); the language itself stays C17.
add_compile_definitions($<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=>)

add_compile_definitions(SN_SHOW_WARNINGS) # of our own headers, too
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow)
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wconversion>)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wno-enum-float-conversion) # constants are enumerators here, also those that floats are compared with
endif()
if(SINTER_WERROR)
  add_compile_options(-Werror)
endif()

# The interpreter and the scalar helpers are the reference that generated code is compared with bit for bit: the C
# compiler must not contract a*b+c behind our back. errno is never read after a math function.
add_compile_options(-fno-math-errno -ffp-contract=off)

if(SINTER_SANITIZE)
  add_compile_options(-fsanitize=${SINTER_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SINTER_SANITIZE})
  if(SINTER_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
    if(CMAKE_C_COMPILER_ID MATCHES Clang)
      add_compile_options(-fno-sanitize=pointer-overflow) # an empty list is NULL, and NULL + 0 is no defect worth a report
    endif()
  endif()
endif()

if(SINTER_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "SINTER_FUZZ needs clang: CC=clang-19 cmake ... -DSINTER_FUZZ=ON")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
