"""Pictures of problems and routes; matplotlib, of the extra `plot`, is imported only when one is drawn."""

from orienteer.plot.figure import SUFFIXES, check_picture
from orienteer.plot.map import layout
from orienteer.plot.picture import draw, save_picture, save_routes

__all__ = ["SUFFIXES", "check_picture", "draw", "layout", "save_picture", "save_routes"]
