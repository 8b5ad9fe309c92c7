# Removes the installation that it belongs to, wherever that stands now: cmake -P .../cmake/sinter/sinterUninstall.cmake
# Beside it lies the list of what was installed (cmake/InstalledFiles.cmake).
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/sinterFiles.txt files)
set(folders "")
foreach(file IN LISTS files)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} NORMALIZE)
  file(REMOVE ${file})
  if(EXISTS ${file} OR IS_SYMLINK ${file})
    message(SEND_ERROR "Cannot remove ${file}")
  endif()
  cmake_path(GET file PARENT_PATH folder)
  while(folder MATCHES "/sinter(/|$)") # what is ours, and no prefix's own folder
    list(APPEND folders ${folder})
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
list(LENGTH files count)
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING) # inner ones first
foreach(folder IN LISTS folders)
  if(IS_DIRECTORY ${folder})
    execute_process(COMMAND rmdir ${folder} ERROR_QUIET) # only if it is empty
  endif()
endforeach()
message(STATUS "Sinter is removed: ${count} files")
