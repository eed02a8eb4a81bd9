# Libraries of components, programs of them, and the files that rbacgen generates. Names of sources are relative to the
# current folder; headers are included by their path below the project's folder, as "webapp/plan.h".

# Checks what cmake_parse_arguments of the caller has found in the list `arg`: the further arguments are required.
macro(_mandate_check function)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(_mandate_required ${ARGN})
    if(NOT arg_${_mandate_required})
      message(FATAL_ERROR "${function}(NAME ${arg_NAME}): ${_mandate_required} is missing")
    endif()
  endforeach()
endmacro()

# Sets `out` to the absolute paths of the further arguments, which must exist.
function(_mandate_files out)
  set(files "")
  foreach(file ${ARGN})
    get_filename_component(path "${file}" ABSOLUTE)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "Mandate: the file ${path} does not exist")
    endif()
    list(APPEND files "${path}")
  endforeach()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# Sets `out` to the folder of generated headers: that of `source`, below the root of generated files.
function(_mandate_generated out source)
  get_filename_component(folder "${source}" DIRECTORY)
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${folder}")
  set(${out} "${PROJECT_BINARY_DIR}/generated/${folder}" PARENT_SCOPE)
endfunction()

# A rule for a header that rbacgen writes by the further arguments. A header that would not change is not written, so
# that a change of a source compiles only what it must.
function(_mandate_header header sources)
  get_filename_component(name "${header}" NAME)
  add_custom_command(
    OUTPUT "${header}.stamp"
    BYPRODUCTS "${header}"
    COMMAND Mandate::rbacgen ${ARGN} "--out=${header}.new"
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${header}.new" "${header}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${header}.stamp"
    DEPENDS Mandate::rbacgen ${sources}
    COMMENT "Generating ${name}"
    VERBATIM)
endfunction()

# mandate_component(NAME name SOURCES file… [PROTOS file…])
#
# The static library `name` of SOURCES, headers among them. Beside the first source, as it were:
#   mandates.h  the mandates of the components whose markers are in SOURCES; included as "<folder>/mandates.h"
#   kind.h      the KindOf of each kind in PROTOS; included as "<folder>/kind.h"
# PROTOS are included as "<path below the project>.pb.h"; they import each other by that path, and Mandate's and
# Kubernetes' files by theirs. What else the library needs is for target_link_libraries().
function(mandate_component)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;PROTOS")
  _mandate_check(mandate_component NAME SOURCES)
  _mandate_files(sources ${arg_SOURCES})
  _mandate_files(protos ${arg_PROTOS})
  list(GET sources 0 first)
  _mandate_generated(folder "${first}")
  _mandate_header("${folder}/mandates.h" "${sources}" header ${sources})
  set(generated "${folder}/mandates.h.stamp")

  set(imports "--proto_path=${PROJECT_SOURCE_DIR}" "--proto_path=${Mandate_INCLUDE_DIR}")
  set(root "${PROJECT_BINARY_DIR}/generated")
  foreach(proto IN LISTS protos)
    _mandate_generated(out "${proto}")
    get_filename_component(stem "${proto}" NAME_WLE)
    file(MAKE_DIRECTORY "${out}")
    add_custom_command(
      OUTPUT "${out}/${stem}.pb.cc" "${out}/${stem}.pb.h"
      COMMAND "${Mandate_PROTOC}" ${imports} "--cpp_out=${root}" "${proto}"
      DEPENDS ${protos}
      COMMENT "Generating ${stem}.pb.h"
      VERBATIM)
    set_source_files_properties("${out}/${stem}.pb.cc" PROPERTIES COMPILE_OPTIONS -w)
    list(APPEND generated "${out}/${stem}.pb.cc")
  endforeach()
  if(protos)
    string(REPLACE "--proto_path" "--proto-path" imports "${imports}")
    _mandate_header("${folder}/kind.h" "${protos}" kinds ${imports} ${protos})
    list(APPEND generated "${folder}/kind.h.stamp")
  endif()

  add_library(${arg_NAME} STATIC ${sources} ${generated})
  target_include_directories(${arg_NAME} PUBLIC "${PROJECT_SOURCE_DIR}" "${root}")
  target_link_libraries(${arg_NAME} PUBLIC Mandate::mandate)
  set_target_properties(${arg_NAME} PROPERTIES MANDATE_SOURCES "${sources}")
endfunction()

# The component Mandate::${name} of the library, with its markers in `header`: for mandate_program().
function(_mandate_own_component name header)
  if(NOT TARGET Mandate::${name})
    add_library(Mandate::${name} INTERFACE IMPORTED)
    set_target_properties(Mandate::${name} PROPERTIES
      INTERFACE_LINK_LIBRARIES Mandate::mandate
      MANDATE_SOURCES "${Mandate_INCLUDE_DIR}/${header}")
  endif()
endfunction()

# mandate_program(NAME name SOURCES file… COMPONENTS target… [BASE_NAME name])
#
# The program `name` of SOURCES and the libraries that mandate_component() made, with a generated header in the folder of
# the first source:
#   base_mandate.h  kBase, what the program itself may do: the tokens of the components, and its Lease
# BASE_NAME is `base-name` of rbacgen.yaml: the program's ServiceAccount and Lease, and the prefix of the components'
# ServiceAccounts (mandate-manager).
function(mandate_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;BASE_NAME" "SOURCES;COMPONENTS")
  if(NOT arg_BASE_NAME)
    set(arg_BASE_NAME mandate-manager)
  endif()
  _mandate_check(mandate_program NAME SOURCES COMPONENTS)
  _mandate_files(sources ${arg_SOURCES})
  list(GET sources 0 first)
  _mandate_generated(folder "${first}")
  set(markers "")
  foreach(component IN LISTS arg_COMPONENTS)
    set(files "")
    if(TARGET ${component})
      get_target_property(files ${component} MANDATE_SOURCES)
    endif()
    if(NOT files)
      message(FATAL_ERROR
        "mandate_program(NAME ${arg_NAME}): ${component} is neither a library that mandate_component() made before, nor "
        "Mandate::access_observer or Mandate::metrics_auth")
    endif()
    list(APPEND markers ${files})
  endforeach()
  _mandate_header("${folder}/base_mandate.h" "${markers}" header --base=only "--base-name=${arg_BASE_NAME}" ${markers})
  add_executable(${arg_NAME} ${sources} "${folder}/base_mandate.h.stamp")
  target_include_directories(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
  target_link_libraries(${arg_NAME} PRIVATE ${arg_COMPONENTS} Mandate::mandate)
endfunction()

# mandate_manifests()
#
# The target `manifests`, which writes what the project's rbacgen.yaml lists (CRDs, the chart's generated part), and the
# test `manifests`, which fails if one of these files is out of date.
function(mandate_manifests)
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/rbacgen.yaml")
    message(FATAL_ERROR "mandate_manifests: ${PROJECT_SOURCE_DIR}/rbacgen.yaml does not exist")
  endif()
  set(imports "--proto-path=${Mandate_INCLUDE_DIR}")
  add_custom_target(manifests
    COMMAND Mandate::rbacgen generate ${imports}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    VERBATIM)
  add_test(NAME manifests COMMAND Mandate::rbacgen check ${imports} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()
