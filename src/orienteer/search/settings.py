"""Settings written as KEY=VALUE: each becomes the value of a dataclass's field, read by the field's type."""

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from orienteer.model.spelling import did_you_mean

Fields = TypeVar("Fields")


def field_types(config_class: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields, by name."""
    hints = get_type_hints(config_class)
    return {field.name: hints[field.name] for field in dataclasses.fields(config_class) if field.init}


def check_known(
    owner: str, names: Iterable[str], known: Iterable[str], instead: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Raises a ValueError if one of `names` is not `known` as a setting of `owner`, a solver or training method.

    `instead` says, of names that are no settings, what to write for them.
    """
    listed = list(known)
    for name in names:
        if name not in listed:
            hint = f"; write {instead[name]}" if name in instead else did_you_mean(name, listed)
            raise ValueError(f"{owner} has no setting {name!r}; it has {', '.join(listed) or 'none'}{hint}")


def read_settings(owner: str, types: dict[str, Any], words: Iterable[str], option: str = "--set") -> dict[str, Any]:
    """The values by their keys, of `words` such as KEY=VALUE; `types` has the type of each key's value.

    For error messages, `owner` names the method with these settings, and `option` the option that has the words.
    """
    texts = _pairs(words, option)
    check_known(owner, texts, types)
    return {key: _value_of(key, text, types[key], option) for key, text in texts.items()}


def changed_settings(owner: str, config: Fields, words: Iterable[str], option: str = "--set") -> Fields:
    """`config` with the fields replaced that `words` such as KEY=VALUE name; PART.KEY is a field of the field PART."""
    return _changed(owner, config, _pairs(words, option), option, "")


def _pairs(words: Iterable[str], option: str) -> dict[str, str]:
    """The texts of the values by their keys; of two words with one key the later counts."""
    texts = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise ValueError(f"{option} takes KEY=VALUE, got {word!r}")
        texts[key.strip()] = text.strip()
    return texts


def _changed(owner: str, config: Any, texts: dict[str, str], option: str, before: str) -> Any:
    """`config` with the fields in `texts` replaced; `before` is the path to this part, with a dot after it."""
    types = field_types(type(config))
    check_known(owner, (before + key.partition(".")[0] for key in texts), [before + name for name in types])
    changes, deeper = dict[str, Any](), dict[str, dict[str, str]]()
    for key, text in texts.items():
        name, dot, rest = key.partition(".")
        if not dot:
            changes[name] = _value_of(before + name, text, types[name], option)
        elif dataclasses.is_dataclass(types[name]):
            deeper.setdefault(name, {})[rest] = text
        else:
            raise ValueError(f"{option} {before}{key}: {before}{name} has no parts")
    for name, inner in deeper.items():
        changes[name] = _changed(owner, getattr(config, name), inner, option, f"{before}{name}.")
    return dataclasses.replace(config, **changes)  # all at once: a value may only fit together with another


def _value_of(key: str, text: str, hint: Any, option: str) -> Any:
    try:
        return _parsed(text, hint)
    except ValueError:
        raise ValueError(f"{option} {key} must be {_wish(hint)}, got {text!r}") from None


def _parsed(text: str, hint: Any) -> Any:
    """The text as a value of a type, or a ValueError."""
    kinds = get_args(hint)
    if get_origin(hint) is Literal and text in kinds:
        return text
    if get_origin(hint) in (Union, UnionType):
        for kind in sorted(kinds, key=lambda kind: kind is not NoneType):  # None first: "none" is also a text
            with contextlib.suppress(ValueError):
                return _parsed(text, kind)
    if get_origin(hint) is tuple:
        parts = text.split(",") if text else []
        each = kinds[:1] * len(parts) if kinds[-1] is Ellipsis else kinds
        return tuple(_parsed(part.strip(), kind) for part, kind in zip(parts, each, strict=True))
    if hint in WORDS and text.lower() in WORDS[hint]:
        return WORDS[hint][text.lower()]
    if hint in (int, float, str):
        return hint(text)
    raise ValueError


WORDS: dict[Any, dict[str, bool | None]] = {bool: {"true": True, "false": False}, NoneType: {"none": None}}
"""How the values of types other than numbers and texts are written."""
WISHES = {bool: "true or false", int: "a whole number", float: "a number", NoneType: "none", str: "a text"}
"""What error messages say that a value of each type must be."""


def _wish(hint: Any) -> str:
    """What a value of a type must be, in words for an error message."""
    kinds = get_args(hint)
    if get_origin(hint) is Literal:
        return " or ".join(kinds)
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_wish(kind) for kind in kinds)
    if get_origin(hint) is tuple:
        number = "values" if kinds[-1] is Ellipsis else f"{len(kinds)} values"
        return f"{number} with commas between them, each {_wish(kinds[0])}"
    if dataclasses.is_dataclass(hint):
        return f"set part by part ({', '.join(field_types(hint))})"  # type: ignore[arg-type]
    return WISHES.get(hint, str(hint))
