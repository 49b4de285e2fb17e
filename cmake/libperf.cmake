# The imported target `libperf`: an installed one, else the one built here from the kernel
# source that Debian packages (no Debian package ships libperf itself). It is built once per
# build tree, at configure time, because CMake wants include directories to exist.
#
# Users of the target see its headers as SYSTEM and the macro FS_LIBPERF_VERSION, a string.

set(FSIGHT_LINUX_SOURCE /usr/src/linux-source-6.1.tar.xz CACHE FILEPATH
  "Kernel source to build libperf from where none is installed")

# Unpack tools/lib/perf and what its Makefile needs, and build the static libraries.
# libapi.a, which libperf.a needs, is never installed: it stays in out/.
function(fs_build_libperf directory)
  if(NOT EXISTS ${FSIGHT_LINUX_SOURCE})
    message(FATAL_ERROR "libperf is not installed and ${FSIGHT_LINUX_SOURCE}, from which it "
      "would be built, does not exist: install the Debian package linux-source-6.1, "
      "or name another kernel source with -DFSIGHT_LINUX_SOURCE=FILE.")
  endif()
  get_filename_component(top ${FSIGHT_LINUX_SOURCE} NAME)
  string(REGEX REPLACE "\\.tar.*$" "" top ${top})
  message(STATUS "Building libperf from ${FSIGHT_LINUX_SOURCE} (about 15 seconds)")
  file(REMOVE_RECURSE ${directory})
  file(MAKE_DIRECTORY ${directory}/source ${directory}/out)
  execute_process(
    COMMAND tar -xf ${FSIGHT_LINUX_SOURCE} -C ${directory}/source --strip-components=1
            ${top}/Makefile ${top}/COPYING ${top}/tools/lib ${top}/tools/build
            ${top}/tools/scripts ${top}/tools/include ${top}/tools/arch
    RESULT_VARIABLE failed ERROR_VARIABLE text)
  if(failed)
    message(FATAL_ERROR "Unpacking ${FSIGHT_LINUX_SOURCE} failed (are tar and xz-utils "
      "installed, and is there room in ${directory}?): ${text}")
  endif()
  # The kernel's make must not take this build's flags or its job server for its own.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=MAKEFLAGS --unset=MAKELEVEL --unset=CFLAGS
            --unset=LDFLAGS --unset=CC make -C ${directory}/source/tools/lib/perf
            O=${directory}/out prefix=/ libdir=/lib DESTDIR=${directory}/install
            install_lib install_headers
    RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(failed)
    message(FATAL_ERROR "Building libperf in ${directory}/source/tools/lib/perf failed (it "
      "needs gcc and make):\n${text}")
  endif()
  file(STRINGS ${directory}/source/Makefile lines LIMIT_COUNT 4 REGEX "^[A-Z]+ *= *[0-9]+")
  list(TRANSFORM lines REPLACE "^[A-Z]+ *= *" "")
  list(JOIN lines "." kernel)
  file(STRINGS ${directory}/source/tools/lib/perf/Makefile lines
    REGEX "^LIBPERF_(VERSION|PATCHLEVEL|EXTRAVERSION) *= *[0-9]+")
  list(TRANSFORM lines REPLACE "^[A-Z_]+ *= *" "")
  list(JOIN lines "." own)
  file(WRITE ${directory}/version "${own} (${top} ${kernel})")
endfunction()

pkg_check_modules(LIBPERF QUIET libperf)
find_path(FSIGHT_LIBPERF_INCLUDE perf/event.h HINTS ${LIBPERF_INCLUDE_DIRS})
find_library(FSIGHT_LIBPERF_LIBRARY perf HINTS ${LIBPERF_LIBRARY_DIRS})
mark_as_advanced(FSIGHT_LIBPERF_INCLUDE FSIGHT_LIBPERF_LIBRARY)

add_library(libperf INTERFACE IMPORTED)
if(FSIGHT_LIBPERF_INCLUDE AND FSIGHT_LIBPERF_LIBRARY)
  set(libperf_version "${LIBPERF_VERSION}")
  if(NOT libperf_version)
    set(libperf_version "unknown")
  endif()
  string(APPEND libperf_version " (installed)")
  set(libperf_include ${FSIGHT_LIBPERF_INCLUDE})
  set(libperf_libraries ${FSIGHT_LIBPERF_LIBRARY})
else()
  set(libperf_directory ${CMAKE_BINARY_DIR}/libperf)
  if(NOT EXISTS ${libperf_directory}/version)
    fs_build_libperf(${libperf_directory})
  endif()
  file(READ ${libperf_directory}/version libperf_version)
  set(libperf_include ${libperf_directory}/install/include)
  set(libperf_libraries
    ${libperf_directory}/install/lib/libperf.a ${libperf_directory}/out/libapi.a)
endif()
target_include_directories(libperf SYSTEM INTERFACE ${libperf_include})
target_link_libraries(libperf INTERFACE ${libperf_libraries})
target_compile_definitions(libperf INTERFACE "FS_LIBPERF_VERSION=\"${libperf_version}\"")
message(STATUS "libperf ${libperf_version}")
