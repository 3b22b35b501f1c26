"""python -m rotule ARGS: the program, where it is found."""
import os
import sys

from .viewer import program

found = program()
if found is None:
    sys.exit("rotule: the program is neither in this package nor on the path; set ROTULE_PROGRAM to it")
os.execv(found, [found, *sys.argv[1:]])
