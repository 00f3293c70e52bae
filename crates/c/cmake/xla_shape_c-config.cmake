# find_package(xla_shape_c CONFIG) makes the target xla_shape::c: the headers, and the library with what it needs.
#
# XLA_SHAPE_ROOT: a clone of the repository, in which `cargo build --release -p xla-shape-c` has run. Without it, pkg-config finds the library.
if(TARGET xla_shape::c)
    return()
endif()

if(XLA_SHAPE_ROOT)
    find_path(XLA_SHAPE_INCLUDE_DIR xla_shape.h PATHS "${XLA_SHAPE_ROOT}/crates/c/include" NO_DEFAULT_PATH)
    find_library(XLA_SHAPE_LIBRARY NAMES libxla_shape_c.a xla_shape_c PATHS "${XLA_SHAPE_ROOT}/target/release" NO_DEFAULT_PATH)
    if(NOT XLA_SHAPE_INCLUDE_DIR OR NOT XLA_SHAPE_LIBRARY)
        set(xla_shape_c_FOUND FALSE)
        set(xla_shape_c_NOT_FOUND_MESSAGE
            "no headers and library in ${XLA_SHAPE_ROOT}: run `cargo build --release -p xla-shape-c` there")
        return()
    endif()
    find_package(Threads REQUIRED)
    add_library(xla_shape::c UNKNOWN IMPORTED)
    set_target_properties(xla_shape::c PROPERTIES
        IMPORTED_LOCATION "${XLA_SHAPE_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${XLA_SHAPE_INCLUDE_DIR}")
    target_link_libraries(xla_shape::c INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
    if(UNIX AND NOT APPLE)
        target_link_libraries(xla_shape::c INTERFACE m)
    endif()
else()
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(XLA_SHAPE_C REQUIRED IMPORTED_TARGET GLOBAL xla_shape_c)
    add_library(xla_shape::c ALIAS PkgConfig::XLA_SHAPE_C)
endif()
set(xla_shape_c_FOUND TRUE)
