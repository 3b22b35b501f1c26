# Run by the build: what the program says of itself becomes files.
#   cmake -DPROGRAM=rotule -DOUT=folder -P write_manual.cmake
file(MAKE_DIRECTORY ${OUT})
execute_process(COMMAND ${PROGRAM} manual OUTPUT_FILE ${OUT}/rotule.1 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND gzip -9nc ${OUT}/rotule.1 OUTPUT_FILE ${OUT}/rotule.1.gz COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} completion bash OUTPUT_FILE ${OUT}/rotule.bash COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} completion zsh OUTPUT_FILE ${OUT}/_rotule COMMAND_ERROR_IS_FATAL ANY)
