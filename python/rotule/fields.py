"""Every field of scenes and recipes with its unit, range and meaning: from the engine's own list, which files are read by."""
from __future__ import annotations

import difflib
import functools
import json
from typing import Any, Iterable, Mapping

from . import _core
from .errors import UnknownName


@functools.lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    return json.loads(_core.scene_schema())


@functools.lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    """Everything that has fields, by name: parts, kinds of parts, the recipe, and what it chooses between."""
    schema = _schema()
    tables: dict[str, dict[str, Any]] = {"scene": schema}
    definitions = schema["$defs"]
    for name, definition in definitions.items():
        if "properties" in definition:
            tables[name] = definition
    for group in ("joint", "shape", "force", "solid"):
        for kind, definition in definitions[group]["properties"].items():
            tables.setdefault(kind, definition)
    recipe = next(one for one in definitions["recipe"]["oneOf"] if one.get("type") == "object")
    tables["recipe"] = recipe
    for choice in recipe["properties"].values():
        for option in choice.get("oneOf", []):
            if "properties" in option:
                tables.setdefault(option["properties"]["name"]["enum"][0], option)
    return tables


def suggestion(name: str, known: Iterable[str]) -> str:
    """The nearest of the known names, or all of them."""
    listed = sorted(known)
    near = difflib.get_close_matches(name, listed, 1)
    return f'did you mean "{near[0]}"?' if near else "known: " + ", ".join(listed)


def require(what: str, given: Mapping[str, Any]) -> None:
    """Raises TypeError, as for an unknown argument of a function, where `what` has no field of that name."""
    known = _tables()[what]["properties"]
    for key in given:
        if key not in known:
            raise TypeError(f"{what} has no field {key!r}; {suggestion(key, known)}")


def require_kind(group: str, kind: str) -> None:
    known = _schema()["$defs"][group]["properties"]
    if kind not in known:
        raise UnknownName(f'unknown {group} "{kind}"; {suggestion(kind, known)}')


def _range(field: Mapping[str, Any]) -> str:
    low, high = field.get("minimum"), field.get("maximum")
    if "exclusiveMinimum" in field:
        text = f"> {field['exclusiveMinimum']:g}"
    elif low is not None:
        text = f">= {low:g}"
    else:
        return f"<= {high:g}" if high is not None else ""
    # A bound that only keeps numbers finite says nothing to a reader.
    return text if high is None or high >= 1e29 else f"{text}, <= {high:g}"


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return field["$ref"].rsplit("/", 1)[1]
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    if "oneOf" in field:
        names = next((one["enum"] for one in field["oneOf"] if "enum" in one), None)
        return "one of " + ", ".join(names) if names else "one of several forms"
    kind = str(field.get("type", ""))
    if kind == "array":
        items = _type(field.get("items", {}))
        count = field.get("minItems") if field.get("minItems") == field.get("maxItems") else None
        return f"{count} x {items}" if count else f"list of {items}"
    return {"number": "float", "integer": "int", "boolean": "bool", "string": "str", "object": "dict"}.get(kind, kind)


def describe(what: str = "") -> str:
    """Fields of a part of a scene or a recipe, with type, unit, range, default and meaning: describe("body"), describe("hinge"),
    describe("recipe"), describe("pgs"). Without a name: what there is to describe."""
    tables = _tables()
    if not what:
        return "describe one of: " + ", ".join(sorted(tables))
    if what not in tables:
        raise UnknownName(f'there is nothing to describe under "{what}"; {suggestion(what, tables)}')
    table = tables[what]
    required = set(table.get("required", []))
    summary = table.get("description") or table["properties"].get("name", {}).get("description", "") if "enum" in table[
        "properties"].get("name", {}) else table.get("description", "")
    lines = [f"{what}: {summary}" if summary else what]
    for name, field in table["properties"].items():
        if name == "$schema" or (name == "name" and "enum" in field):
            continue
        meaning, _, unit = str(field.get("description", "")).partition(" [")
        notes = [_type(field)]
        if unit:
            notes.append(unit.rstrip("]"))
        if bounds := _range(field) or _range(field.get("items", {})):
            notes.append(bounds)
        if name in required:
            notes.append("required")
        elif "default" in field:
            notes.append(f"default {field['default']}")
        lines.append(f"  {name} ({'; '.join(notes)}): {meaning}")
    return "\n".join(lines)
