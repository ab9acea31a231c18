"""Pictures of problems, plans and searches; matplotlib, of the extra `plot`, is imported only when one is drawn."""

from orienteer.plot.figure import SUFFIXES, check_picture
from orienteer.plot.filling import animate_levels
from orienteer.plot.film import ANIMATED, check_animation
from orienteer.plot.improving import animate
from orienteer.plot.map import layout
from orienteer.plot.picture import draw, save_picture, save_routes
from orienteer.plot.timetable import draw_timetable, save_timetable

__all__ = [
    "ANIMATED",
    "SUFFIXES",
    "animate",
    "animate_levels",
    "check_animation",
    "check_picture",
    "draw",
    "draw_timetable",
    "layout",
    "save_picture",
    "save_routes",
    "save_timetable",
]
