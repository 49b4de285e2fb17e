# fs_embed(NAME OUT_VAR TYPE FILES...): make a C file that defines
#   const struct TYPE NAME[] = { { "base name", "text of the file" }, ..., { NULL, NULL } };
# The order is that of FILES. Texts are byte arrays, since ISO C bounds string literals.
function(fs_embed name header type out_var)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DHEADER=${header} -DTYPE=${type} -DOUTPUT=${output}
            "-DFILES=${ARGN}" -P ${CMAKE_SOURCE_DIR}/cmake/embed-script.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/embed-script.cmake VERBATIM)
  set(${out_var} ${output} PARENT_SCOPE)
endfunction()
