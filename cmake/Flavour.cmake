# What every target of shootdown is compiled with, and what each build flavour adds.

set(SD_SANITIZE "" CACHE STRING "Sanitizer flavour: empty, address or thread")
set_property(CACHE SD_SANITIZE PROPERTY STRINGS "" address thread)
option(SD_WERROR "Treat warnings as errors" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Our checks are never compiled out, so no configuration may define NDEBUG.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_CXX_FLAGS_RELEASE "-O3")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# One link at a time: sanitized links need most of the memory of a build.
set_property(GLOBAL PROPERTY JOB_POOLS link=1)
set(CMAKE_JOB_POOL_LINK link)

include_directories(${PROJECT_SOURCE_DIR})
# The kernel is compiled with -fno-strict-aliasing, so is code that follows it.
add_compile_options(-Wall -Wextra -Wconversion -fno-strict-aliasing)
if(SD_WERROR)
  add_compile_options(-Werror)
endif()

if(SD_SANITIZE STREQUAL "address")
  set(SD_FLAVOUR asan)
  add_compile_definitions(SD_ASAN=1)
  set(flags -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_compile_options(${flags})
  add_link_options(${flags})
elseif(SD_SANITIZE STREQUAL "thread")
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "SD_SANITIZE=thread needs clang: g++ has no -fsanitize-ignorelist")
  endif()
  set(SD_FLAVOUR tsan)
  add_compile_definitions(SD_TSAN=1)
  add_compile_options(-fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(SD_SANITIZE STREQUAL "")
  set(SD_FLAVOUR plain)
else()
  message(FATAL_ERROR "SD_SANITIZE must be empty, address or thread, not '${SD_SANITIZE}'")
endif()

# sd_instrument(target how): what ThreadSanitizer sees of a target.
#   STACK   code under test: instrumented
#   ABOVE   code that includes headers of the stack: only their inline functions are instrumented,
#           so that whichever copy of one the linker keeps is the same
#   NONE    the simulator itself: invisible
# cmake/tsan-ignore.txt makes the same distinction for headers.
function(sd_instrument target how)
  if(NOT SD_SANITIZE STREQUAL "thread" OR how STREQUAL "NONE")
    return()
  endif()
  set(list ${PROJECT_SOURCE_DIR}/cmake/tsan-ignore.txt)
  target_compile_options(${target} PRIVATE -fsanitize=thread -fsanitize-ignorelist=${list})
  if(how STREQUAL "ABOVE")
    target_compile_options(${target} PRIVATE "SHELL:-mllvm -tsan-instrument-atomics=0")
  endif()
  get_target_property(type ${target} TYPE)
  if(how STREQUAL "STACK" AND type STREQUAL "STATIC_LIBRARY")
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND ${CMAKE_OBJCOPY} --rename-section .text=sd_stack_text $<TARGET_FILE:${target}>)
  endif()
endfunction()

# sd_tsan_runtime hides the simulator's own memory traffic from ThreadSanitizer's interceptors.
if(SD_SANITIZE STREQUAL "thread")
  add_library(sd_tsan_runtime STATIC ${PROJECT_SOURCE_DIR}/cmake/tsan_runtime.cc)
  target_compile_options(sd_tsan_runtime PRIVATE -fno-builtin)
  foreach(symbol IN ITEMS memcpy memmove memset
      _Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t
      _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t
      _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t)
    target_link_options(sd_tsan_runtime INTERFACE LINKER:--wrap=${symbol})
  endforeach()
else()
  add_library(sd_tsan_runtime INTERFACE)
endif()

# ThreadSanitizer cannot run under too much address space randomisation; start its tests without.
set(SD_LAUNCHER "")
if(SD_SANITIZE STREQUAL "thread")
  find_program(SD_SETARCH setarch)
  if(SD_SETARCH)
    execute_process(COMMAND ${SD_SETARCH} -R true RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(SD_LAUNCHER ${SD_SETARCH} -R)
    endif()
  endif()
endif()
