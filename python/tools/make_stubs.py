#!/usr/bin/env python3
"""Writes the stubs of rotule._core (rotule/_core.pyi) from what the module says of itself: pybind11 puts every signature into the
docstring. A test compares the file with what this would write, so that they cannot part.

usage: PYTHONPATH=... make_stubs.py [FILE]   without a file: to stdout"""
import inspect
import re
import sys

HEADER = '''"""Written by python/tools/make_stubs.py from the module itself."""
from typing import Any, Iterator, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

'''


def annotation(text, taken):
    """A type as pybind11 writes it, as checkers read it; arrays that are taken may be anything that becomes one."""
    array = re.compile(r"numpy\.ndarray(\[(?:[^\[\]]|\[[^\[\]]*\])*\])?")
    names = {"float": "np.float64", "double": "np.float64", "int": "np.int64", "complex": "np.complex128"}

    def replace(match):
        if taken:
            return "ArrayLike"
        inner = match[1] or ""
        kind = re.match(r"\[numpy\.(\w+)", inner)
        return f"NDArray[np.{kind[1]}]" if kind else "NDArray[Any]"

    text = array.sub(replace, text)
    text = text.replace("rotule._core.", "").replace("pybind11_builtins.", "")
    text = re.sub(r"\b(object|handle)\b", "Any", text)
    text = re.sub(r"\bList\[", "list[", text)
    text = re.sub(r"\bDict\[", "dict[", text)
    text = re.sub(r"\bTuple\[", "tuple[", text)
    text = re.sub(r"(list\[[^\]]+\])\[\d+\]", r"\1", text)  # std::array
    for cpp, python in names.items():
        text = text.replace(f"numpy.{cpp}", python)
    return "Any" if re.search(r"::", text) else text


def split(arguments):
    """At the commas that no bracket encloses."""
    out, depth, start = [], 0, 0
    for k, c in enumerate(arguments):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            out.append(arguments[start:k])
            start = k + 1
    rest = arguments[start:]
    return [one.strip() for one in [*out, rest] if one.strip()]


def argument(text):
    if text.startswith("*") or text == "self":
        name = text.partition(":")[0]
        return text if text in ("*", "self") else f"{name}: Any"
    name, _, rest = text.partition(": ")
    if name == "self":
        return "self"
    kind, has_default, _ = rest.partition(" = ")
    return f"{name}: {annotation(kind, True)}{' = ...' if has_default else ''}"


def signature(function, name):
    line = (function.__doc__ or "").partition("\n")[0]
    match = re.fullmatch(rf"{re.escape(name)}\((.*)\)(?: -> (.*))?", line)
    if not match:
        raise SystemExit(f"{name}: no signature in its docstring: {line!r}")
    arguments = [argument(one) for one in split(match[1])]
    result = annotation(match[2] or "None", False)
    return f"def {name}({', '.join(arguments)}) -> {result}: ..."


def is_function(value):
    return inspect.isroutine(value) or type(value).__name__ in ("instancemethod", "builtin_function_or_method")


def class_stub(cls):
    lines = [f"class {cls.__name__}:"]
    for name, value in sorted(vars(cls).items()):
        if isinstance(value, property):
            # What getters return is in the docstring of the function behind the property.
            line = ((value.fget.__doc__ or "") if value.fget else "").strip().partition("\n")[0]
            result = annotation(line.partition(" -> ")[2] or "Any", False)
            lines += ["    @property", f"    def {name}(self) -> {result}: ..."]
            if value.fset:
                lines += [f"    @{name}.setter", f"    def {name}(self, value: Any) -> None: ..."]
        elif is_function(value) and (not name.startswith("__") or name in (
                "__init__", "__getitem__", "__len__", "__enter__", "__exit__")) and name != "_pybind11_conduit_v1_":
            if (value.__doc__ or "").startswith(f"{name}("):
                lines.append("    " + signature(value, name))
            elif name == "__init__":
                continue  # made by the engine alone
    return lines + ["    ..."] if len(lines) == 1 else lines


def stubs(module):
    lines = []
    for name, value in sorted(vars(module).items()):
        if inspect.isclass(value):
            lines += [*class_stub(value), ""]
    for name, value in sorted(vars(module).items()):
        if is_function(value):
            lines.append(signature(value, name))
    return HEADER + "\n".join(lines) + "\n"


def main():
    from rotule import _core

    text = stubs(_core)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as file:
            file.write(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
