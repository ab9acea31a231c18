"""What problems may have, for readers of the OpenAPI description. docs/reference/files.md says more; readers check."""

from typing import Any

Schema = dict[str, Any]

REF = "#/components/schemas/"
"""Where the description has its objects."""


def _list(items: Schema, words: str) -> Schema:
    return {"type": "array", "items": items, "description": words}


def _either(*kinds: Schema, words: str) -> Schema:
    return {"anyOf": list(kinds), "description": words}


def _said(kind: str, words: str) -> Schema:
    return {"type": kind, "description": words}


_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}
_NODE = {"anyOf": [{"type": "integer", "minimum": 0}, _TEXT]}
_TIME = {"anyOf": [_NUMBER, _TEXT]}
_UNITS = ["minutes", "seconds", "hours"]


def _node(words: str) -> Schema:
    return _NODE | {"description": f"{words}: a number, counted from 0, or a name."}


def _time(words: str) -> Schema:
    return _TIME | {"description": f"{words}: a number in the unit of costs, or a text such as 09:30."}


def _duration(words: str) -> Schema:
    return _TIME | {"description": f"{words}: a number in the unit of costs, or hours and minutes such as 1:30."}


PROBLEM: Schema = {
    "type": "object",
    "description": "A problem: places one by one, or lists with an entry for each place; and rules.",
    "properties": {
        "limit": _duration("The most that a route may cost"),
        "start": _node("Where routes start, by default the first place"),
        "end": _node("Where routes end, by default the start"),
        "free_end": _said("boolean", "Whether routes may stop anywhere."),
        "places": _list({"$ref": REF + "Place"}, "Places one by one, in place of the lists for all of them."),
        "prizes": _list(_NUMBER, "What each place is worth, at least 0."),
        "coords": _list(
            {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
            "x and y of each place; with the metric great_circle longitude and latitude.",
        ),
        "on_earth": _said("boolean", "Whether coords are longitude and latitude, also with costs or a table."),
        "costs": _list(
            {"type": "array", "items": {"type": ["number", "null"]}},
            "Row i, column j: the cost from place i to place j; null where there is no way.",
        ),
        "table": _said("object", "In place of costs: the answer of OSRM or Valhalla to a request for a table."),
        "names": _list(_TEXT, "The names of the places, all different."),
        "service": _list(_TIME, "How long a visit of each place takes: a number, or hours and minutes such as 1:30."),
        "required": _list(_NODE, "Places that must be visited, by number or name."),
        "windows": {
            "type": ["array", "object"],
            "description": "When a visit may begin: an entry for each place, or for some by number or name. An entry "
            "is null, a pair [opens, closes], a list of pairs, or a text such as 09:00-12:00;14:00-18:00.",
        },
        "groups": _list({"type": "array", "items": _NODE}, "Of each group at most one place is visited."),
        "routes": _either(
            {"type": "integer", "minimum": 1},
            {"type": "array", "items": {"$ref": REF + "RouteWanted"}},
            words="How many routes from start to end, or a list with what each route has of its own.",
        ),
        "budgets": {
            "type": ["array", "object"],
            "description": "Sums that visited places may reach: a list of objects with name, weights (a number for "
            "each place, or for some by number or name) and most; with places also an object of limits by name, such "
            'as {"fee": 20}.',
        },
        "metric": {
            "enum": ["euclidean", "manhattan", "great_circle"],
            "description": "How positions become costs: euclidean by default, great_circle for lat and lon.",
        },
        "speed": _said("number", "How far one gets at a cost of 1: distances are divided by it."),
        "unit": {"enum": _UNITS, "description": "What costs are counted in, for times of day; minutes by default."},
        "clock": {"enum": _UNITS, "description": "As unit; and times are shown as times of day."},
    },
}

PLACE: Schema = {
    "type": "object",
    "description": "A place, with lat and lon, or x and y, or with neither if costs or a table are given.",
    "properties": {
        "name": _said("string", "All places have a name, or none; all names differ."),
        "lat": _said("number", "Latitude in degrees; with lon, costs are metres along the great circle."),
        "lon": _said("number", "Longitude in degrees."),
        "x": _said("number", "With y, in place of lat and lon."),
        "y": _said("number", "With x, in place of lat and lon."),
        "prize": _said("number", "What a visit is worth, at least 0; 1 by default."),
        "service": _duration("How long a visit takes"),
        "duration": _duration("Another word for service"),
        "required": _said("boolean", "Whether the place must be visited."),
        "avoid": _said("boolean", "Whether the place must not be visited."),
        "start": _said("boolean", "Whether routes start here."),
        "end": _said("boolean", "Whether routes end here."),
        "opens": _time("When a visit may begin at the earliest"),
        "closes": _time("When a visit may begin at the latest"),
        "windows": {
            "type": ["array", "string"],
            "description": "Several times to begin, in place of opens and closes: a list of pairs, or a text such as "
            "09:00-12:00;14:00-18:00.",
        },
        "group": _either(
            _TEXT,
            {"type": "array", "items": _TEXT},
            words="Of the places of a group at most one is visited, on all routes together; a place may be in several.",
        ),
        "weights": _said("object", "What a visit takes of each budget, by the budget's name."),
    },
}

ROUTE: Schema = {
    "type": "object",
    "description": "What a route has of its own; the rest is the problem's.",
    "properties": {
        "name": _said("string", "What the route is called in answers."),
        "start": _node("Where the route starts"),
        "end": _node("Where the route ends"),
        "opens": _time("When the route begins, by default 0"),
        "limit": _duration("The most that the route may cost"),
        "closes": _time("When the route must be at its end, in place of a limit"),
        "free_end": _said("boolean", "Whether the route may stop anywhere."),
    },
}

SCHEMAS = {"OrienteeringProblem": PROBLEM, "Place": PLACE, "RouteWanted": ROUTE}
"""The objects of problems, by their names in the description."""
