# One folder is one library, one test program and one benchmark program. Sources are found by name:
#   foo.cc            library
#   foo_test.cc       sd_<name>_test, one ctest per GoogleTest case
#   foo_benchmark.cc  sd_<name>_benchmark
#   main.cc           belongs to whoever asks for it (see torture/CMakeLists.txt)

include(GoogleTest)

# sd_folder(name [TSAN STACK|ABOVE|NONE] [DEPS lib...]) declares sd_<name> from the current folder.
function(sd_folder name)
  cmake_parse_arguments(arg "" "TSAN" "DEPS" ${ARGN})
  if(NOT arg_TSAN)
    set(arg_TSAN NONE)
  endif()
  set(dir ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cc)
  file(GLOB benchmarks CONFIGURE_DEPENDS ${dir}/*_benchmark.cc)
  list(REMOVE_ITEM sources ${tests} ${benchmarks} ${dir}/main.cc)

  if(sources)
    add_library(sd_${name} STATIC ${sources})
    target_link_libraries(sd_${name} PUBLIC ${arg_DEPS} sd_tsan_runtime)
    sd_instrument(sd_${name} ${arg_TSAN})
  else()
    add_library(sd_${name} INTERFACE)
    target_link_libraries(sd_${name} INTERFACE ${arg_DEPS} sd_tsan_runtime)
  endif()

  if(tests)
    sd_add_tests(${name} ${arg_TSAN} ${tests})
  endif()
  if(benchmarks AND TARGET benchmark::benchmark_main)
    add_executable(sd_${name}_benchmark ${benchmarks})
    target_link_libraries(sd_${name}_benchmark PRIVATE sd_${name} benchmark::benchmark_main)
    sd_instrument(sd_${name}_benchmark ${arg_TSAN})
  endif()
endfunction()

# Tests run in the root of the repository; those with Long or Soak in their name have label "long".
function(sd_add_tests name how)
  set(target sd_${name}_test)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE sd_${name})
  if(TARGET GTest::gmock_main)
    target_link_libraries(${target} PRIVATE GTest::gmock_main)
  else()
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
  endif()
  sd_instrument(${target} ${how})
  # g++ takes EXPECT_EQ below an if without braces for ambiguous.
  target_compile_options(${target} PRIVATE -Wno-dangling-else)
  if(SD_LAUNCHER)
    set_target_properties(${target} PROPERTIES CROSSCOMPILING_EMULATOR "${SD_LAUNCHER}")
  endif()
  set(common NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(env SD_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  gtest_discover_tests(${target} ${common} TEST_FILTER "-*Long*:*Soak*"
    TEST_LIST ${target}_short PROPERTIES TIMEOUT 300 ENVIRONMENT ${env})
  gtest_discover_tests(${target} ${common} TEST_FILTER "*Long*:*Soak*"
    TEST_LIST ${target}_long PROPERTIES TIMEOUT 1200 LABELS long ENVIRONMENT ${env})
endfunction()
