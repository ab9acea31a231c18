"""Animated pictures in files: GIF by Pillow, which comes with matplotlib, MP4 by the program ffmpeg."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from orienteer.model.errors import OrienteerError
from orienteer.plot.figure import check_matplotlib, kind_of, one_line_about_letters

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

ANIMATED = (".gif", ".mp4")
"""The kinds of file that hold an animated picture."""
MOST_FRAMES = 60
"""The most frames of an animation: of more moments some at equal distances are shown, among them the first and last."""
FILM_DPI = 100
"""Dots an inch of a frame."""
NEARLY_WHITE = 248
COLOURS = 96
"""Colours of a GIF, chosen for all of its frames together."""
WHOLE, LONGEST, SHORTEST, HELD = 14.0, 1.0, 0.2, 4.0
"""Seconds of all frames but the last, as far as a frame takes neither longer nor shorter than the next two; and of the
last frame, which is held."""
PER_SECOND = 20
"""Frames a second of an MP4, in which a picture is repeated for as long as it is shown."""

Draw = Callable[[int], None]
"""Draws the frame of a moment, given by its number, into the figure."""


def check_animation(path: str | Path) -> None:
    """Raises an error if no animation can be written to this file: its suffix is unknown, or a program is missing."""
    if kind_of(path) not in ANIMATED:
        raise ValueError(f"an animation must be one of {', '.join(ANIMATED)}, got {str(path)!r}")
    check_matplotlib()
    if kind_of(path) == ".mp4":
        from matplotlib.animation import FFMpegWriter

        if not FFMpegWriter.isAvailable():
            raise OrienteerError(
                "an MP4 needs the program ffmpeg, which is not there: install it (Debian: apt install ffmpeg, macOS: "
                "brew install ffmpeg, Windows: winget install ffmpeg), or name a .gif"
            )


def chosen_frames(moments: int) -> list[int]:
    """The numbers of the moments that are shown: all, or `MOST_FRAMES` at equal distances."""
    if not moments:
        raise ValueError("an animation needs at least one moment with a plan")
    spread = np.linspace(0, moments - 1, min(moments, MOST_FRAMES))
    return [int(place) for place in spread.round()]


def durations(frames: int) -> list[float]:
    """For how many seconds each frame is shown, a multiple of 1 / `PER_SECOND`; the last is held."""
    each = min(LONGEST, max(SHORTEST, WHOLE / max(1, frames - 1)))
    return [round(each * PER_SECOND) / PER_SECOND] * (frames - 1) + [HELD]


def write_film(figure: "Figure", draw: Draw, frames: Sequence[int], path: str | Path) -> None:
    """Writes the frames of a figure as a GIF or an MP4, by the file's suffix; equal frames make an equal GIF."""
    with one_line_about_letters(path):
        draw(frames[-1])  # all that the figure shows has its place before the first frame, and stays there
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        if kind_of(path) == ".gif":
            _write_gif(figure, draw, frames, path)
        else:
            _write_mp4(figure, draw, frames, path)


def _write_gif(figure: "Figure", draw: Draw, frames: Sequence[int], path: str | Path) -> None:
    from PIL import Image

    images = []
    for frame in frames:
        draw(frame)
        images.append(_rendered(figure))
    some = [images[0], images[len(images) // 2], images[-1]]
    wide, high = images[0].size
    sheet = Image.new("RGB", (wide, high * len(some)))
    for place, image in enumerate(some):
        sheet.paste(image, (0, place * high))
    palette = sheet.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
    colours = np.array(palette.getpalette(), dtype=np.uint8).reshape(-1, 3)
    colours[(colours > NEARLY_WHITE).all(1)] = 255  # the paper; its colour is a mean with those of blurred edges
    palette.putpalette(colours.tobytes())
    # Without dithering areas stay plain, and small.
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    milliseconds = [round(1000 * seconds) for seconds in durations(len(flat))]
    flat[0].save(
        path, "GIF", save_all=True, append_images=flat[1:], duration=milliseconds, loop=0, optimize=True, disposal=1
    )


def _rendered(figure: "Figure") -> "Image":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure.set_dpi(FILM_DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def _write_mp4(figure: "Figure", draw: Draw, frames: Sequence[int], path: str | Path) -> None:
    from matplotlib.animation import FFMpegWriter

    even = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-pix_fmt", "yuv420p"]  # what all players can show
    writer = FFMpegWriter(fps=PER_SECOND, codec="libx264", extra_args=even)
    with writer.saving(figure, str(path), FILM_DPI):
        for frame, seconds in zip(frames, durations(len(frames)), strict=True):
            draw(frame)
            for _ in range(round(seconds * PER_SECOND)):
                writer.grab_frame()
