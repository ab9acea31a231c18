"""Writes the requests of the service, from its OpenAPI description, into the page that asks for them."""

from typing import Any

MARK = "<!-- requests -->"
"""What is replaced by the requests, on whichever page it stands."""
Schema = dict[str, Any]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page's text with the requests in the place of `MARK`."""
    return markdown.replace(MARK, _requests()) if MARK in markdown else markdown


def _requests() -> str:
    from orienteer.service.app import create_app
    from orienteer.service.settings import Settings

    description = create_app(Settings()).openapi()
    lines = []
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            lines += _request(method, path, operation)
    lines += ["## Objects", ""]
    for name, schema in description["components"]["schemas"].items():
        lines += [f"### {name}", "", schema.get("description", ""), "", *_fields(schema)]
    return "\n".join(lines)


def _request(method: str, path: str, operation: Schema) -> list[str]:
    """A section about one request: what it does, its parameters, its body, its answers."""
    lines = [
        f"## {method.upper()} {path}",
        "",
        f"{operation['summary']}. {operation.get('description', '')}".strip(),
        "",
    ]
    for parameter in operation.get("parameters", []):
        wish = "required" if parameter.get("required") else "optional"
        lines.append(f"- `{parameter['name']}` ({parameter['in']}, {wish}): {_words(parameter)}")
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        lines += ["", f"Body: {_type(content['schema'])} as `{kind}`.", ""]
    lines += ["", "Answers:", ""]
    for status, answer in operation["responses"].items():
        if status < "400":
            kinds = [f"{_type(one.get('schema', {}))} as `{kind}`" for kind, one in answer.get("content", {}).items()]
            lines.append(f"- {status}: {', or '.join(kinds) or answer['description']}")
    errors = ", ".join(status for status in operation["responses"] if status >= "400")
    return [*lines, f"- {errors}: [Problem](#problem)" if errors else "", ""]


def _fields(schema: Schema) -> list[str]:
    """A table of the fields of an object; nothing where there are none."""
    fields = schema.get("properties", {})
    if not fields:
        return []
    lines = ["| field | type | |", "|---|---|---|"]
    for name, field in fields.items():
        need = "**required**. " if name in schema.get("required", []) and "default" not in field else ""
        lines.append(f"| `{name}` | {_type(field)} | {need}{_words(field)} |")
    return [*lines, ""]


def _words(field: Schema) -> str:
    """What is said about a field or parameter, in one line of a table."""
    words = field.get("description", "").replace("\n", " ").replace("|", "\\|")
    default = field.get("default", field.get("schema", {}).get("default"))
    return words if default in (None, [], "") else f"{words} Default: `{default}`.".strip()


def _type(schema: Schema) -> str:
    """The type of a value in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    kind = schema.get("type", "anything")
    return kind if isinstance(kind, str) else " or ".join(kind)
