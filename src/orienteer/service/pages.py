"""What a browser is shown: the page for planners, and a description of the interface, with no files from outside."""

from html import escape
from pathlib import Path
from typing import Any

from orienteer.service.errors import TITLES

FOLDER = Path(__file__).parent / "page"
"""Where `make page` puts the page."""

STYLE = """body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
code { background: #8882 }
dt { margin-top: 1em }
ul { margin: 0; padding-left: 1.2em }"""

NOT_BUILT = """<!doctype html><html lang="en"><title>orienteer</title><h1>orienteer</h1>
<p>The page for planners is not built here: run <code>make page</code> in the repository.
The interface works all the same: <a href="/docs">its description</a>.</p></html>"""


def description(openapi: dict[str, Any]) -> str:
    """The OpenAPI description as a page to read."""
    operations = [
        f"<dt><code>{method.upper()} {escape(path)}</code> {escape(operation.get('summary', ''))}</dt>"
        f"<dd>{escape(operation.get('description', ''))} <i>{escape(', '.join(operation['responses']))}</i></dd>"
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = [
        f'<dt id="{escape(name)}"><code>{escape(name)}</code> {escape(schema.get("description", ""))}</dt>'
        f"<dd>{_fields(schema)}</dd>"
        for name, schema in openapi["components"]["schemas"].items()
    ]
    problems = [f'<dt id="{kind}"><code>{kind}</code></dt><dd>{escape(title)}</dd>' for kind, title in TITLES.items()]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(openapi["info"]["title"])}</title>'
        f'<link rel="stylesheet" href="/docs.css"></head><body><h1>{escape(openapi["info"]["title"])}</h1>'
        f'<p>The machine-readable form is <a href="/openapi.json">/openapi.json</a>.</p>'
        f"<h2>Requests</h2><dl>{''.join(operations)}</dl>"
        f"<h2>Objects</h2><dl>{''.join(schemas)}</dl>"
        f"<h2>Problem documents</h2><dl>{''.join(problems)}</dl></body></html>"
    )


def _fields(schema: dict[str, Any]) -> str:
    """The fields of an object as a list, with what they mean."""
    lines = [
        f"<li><code>{escape(name)}</code> {escape(field.get('description', ''))}</li>"
        for name, field in schema.get("properties", {}).items()
    ]
    return f"<ul>{''.join(lines)}</ul>"
