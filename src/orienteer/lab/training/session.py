"""What all training loops share: the clock, validation, the best weights, checkpoints, logs and a clean stop."""

import dataclasses
import json
import math
import platform
import shutil
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch
from torch import Tensor

from orienteer.beam.score import Scorer
from orienteer.lab.networks.models import Model, save_weights
from orienteer.lab.training.checkpoint import load_checkpoint, save_checkpoint
from orienteer.lab.training.distributed import Team
from orienteer.model.errors import OrienteerError
from orienteer.network.weights import Method

CHECKPOINT, BEST, LAST, LOG = "checkpoint.pt", "best.safetensors", "last.safetensors", "log.jsonl"


class TrainingDiverged(OrienteerError):
    """The loss is no longer a number."""


@dataclass(frozen=True)
class Options:
    """Where and how long a training run goes; the settings of its method say what is trained."""

    out: Path
    """Folder of the weights, the checkpoint and the log."""
    minutes: float | None = None
    """Wall-clock limit, earlier parts of a resumed run included; schedules follow the share of it that has passed."""
    iterations: int | None = None
    """Limit in iterations, for runs that can be repeated exactly; without either limit the preset's."""
    device: str = "auto"
    resume: Path | None = None
    """A checkpoint to go on from."""
    seed: int = 0
    every: float = 20.0
    """Seconds between validations; checkpoints are written as often."""
    validation: int = 64
    """Instances of each validation set."""
    compiled: bool = False
    """Whether to try torch.compile."""
    say: Callable[[str], None] = print
    on_iteration: Callable[[int], None] = lambda iteration: None
    """Called after every iteration."""

    def __post_init__(self) -> None:
        if self.minutes is not None and not self.minutes > 0:
            raise ValueError(f"Options.minutes must be above 0, got {self.minutes}")
        if self.iterations is not None and self.iterations < 1:
            raise ValueError(f"Options.iterations must be at least 1, got {self.iterations}")


class Session:
    """One training run, used as a context: it catches Ctrl-C and leaves the best weights behind."""

    def __init__(
        self,
        method: Method,
        preset: str,
        options: Options,
        settings: Any,
        team: Team,
        validation: Callable[[Scorer], tuple[float, dict[str, float]]],
        scorer: Callable[[Any], Scorer],
    ):
        self.scorer = scorer
        self.method, self.options, self.team, self.validation = method, options, team, validation
        self.about = {"method": method, "preset": preset, "settings": dataclasses.asdict(settings)}
        self.iterations = options.iterations
        if options.minutes is None and self.iterations is None:
            self.iterations = settings.iterations
        self.iteration = 0
        self.states_seen = 0
        self.best = -math.inf
        self.best_scores: dict[str, float] = {}
        self.interrupted = False
        self.before = 0.0
        self._began = self._validated = time.perf_counter()
        self._last_seen = 0
        self._handlers: dict[int, Any] = {}
        if options.resume is None and (options.out / CHECKPOINT).exists():
            raise ValueError(
                f"{options.out} holds an earlier run: go on with --resume {options.out / CHECKPOINT}, "
                "or choose another folder"
            )
        options.out.mkdir(parents=True, exist_ok=True)
        self._board = _board(options.out) if team.chief else None

    def __enter__(self) -> "Session":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._handlers[number] = signal.signal(number, self._interrupt)
        self._began = self._validated = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._board is not None:
            self._board.close()

    @property
    def seconds(self) -> float:
        """Training time so far, earlier parts of a resumed run included."""
        return self.before + time.perf_counter() - self._began

    def fraction(self) -> float:
        """The share of the run that has passed, from 0 to 1, the same in every process."""
        share = 0.0
        if self.iterations is not None:
            share = self.iteration / self.iterations
        if self.options.minutes is not None:
            share = max(share, self.seconds / (60 * self.options.minutes))
        if self.interrupted:
            share = 1.0
        return self.team.agree(min(share, 1.0))

    def resume(self) -> dict[str, Any] | None:
        """The content of the checkpoint to go on from, if there is one."""
        if self.options.resume is None:
            return None
        content = load_checkpoint(self.options.resume, self.method, self.team.device)
        self.iteration, self.before = content["iteration"], content["seconds"]
        self.states_seen = self._last_seen = content["states_seen"]
        self.best, self.best_scores = content["best"], content["best_scores"]
        kept = self.options.resume.parent / BEST
        if self.team.chief and kept.is_file() and kept.parent.resolve() != self.options.out.resolve():
            shutil.copyfile(kept, self.options.out / BEST)
        return content

    def tick(
        self,
        states: int,
        losses: dict[str, Tensor],
        model: Model,
        content: Callable[[], dict[str, Any]],
    ) -> float:
        """Counts an iteration and returns `fraction`; validates and writes a checkpoint now and then and at the end."""
        self.iteration += 1
        self.states_seen += states * self.team.size
        self.options.on_iteration(self.iteration)
        passed = self.fraction()
        if self.team.agree(passed < 1 and time.perf_counter() - self._validated < self.options.every):
            return passed
        numbers = {name: float(loss) for name, loss in losses.items()}
        for name, number in numbers.items():
            if not math.isfinite(number):
                raise TrainingDiverged(
                    f"{self.method}: {name} is {number} at iteration {self.iteration}; "
                    f"the best weights so far are in {self.options.out / BEST}. Try a lower learning rate."
                )
        if self.team.chief:
            scores = self._validate(numbers, model)
            save_checkpoint(self.options.out / CHECKPOINT, {**self._standing(), **content()})
            save_weights(self.options.out / LAST, model, self.method, self.record(), scores)
        self._validated = time.perf_counter()
        return passed

    def record(self) -> dict[str, Any]:
        """How the weights came about."""
        device = self.team.device
        hardware = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
        return {
            **self.about,
            "seed": self.options.seed,
            "iterations": self.iteration,
            "states": self.states_seen,
            "minutes": round(self.seconds / 60, 3),
            "hardware": f"{self.team.size} x {hardware}",
            "torch": torch.__version__,
        }

    def _standing(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "iteration": self.iteration,
            "seconds": self.seconds,
            "states_seen": self.states_seen,
            "best": self.best,
            "best_scores": self.best_scores,
        }

    def _validate(self, numbers: dict[str, float], model: Model) -> dict[str, float]:
        """The model's scores, noted in the log; the best model so far is kept."""
        now = time.perf_counter()
        speed = (self.states_seen - self._last_seen) / max(now - self._validated, 1e-9)
        self._last_seen = self.states_seen
        share, means = self.validation(self.scorer(model))
        mark = ""
        if share > self.best:
            self.best, self.best_scores, mark = share, means, " *"
            save_weights(self.options.out / BEST, model, self.method, self.record(), means)
        line = {"iteration": self.iteration, "seconds": self.seconds, "states": self.states_seen, "speed": speed}
        with (self.options.out / LOG).open("a") as file:
            file.write(json.dumps({**line, **numbers, "score": share, **means}) + "\n")
        if self._board is not None:
            for name, number in {**numbers, "score": share, "speed": speed, **means}.items():
                self._board.add_scalar(name, number, self.iteration)
        detail = " ".join(f"{name} {mean:.2f}" for name, mean in means.items())
        losses = " ".join(f"{name} {number:.4g}" for name, number in numbers.items())
        self.options.say(
            f"{self.seconds / 60:6.2f} min  iteration {self.iteration}  {speed:,.0f} states/s  {losses}  "
            f"score {share:.4f}{mark}  {detail}"
        )
        return means

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        self.options.say("stopping after this iteration; once more to stop at once")


def _board(out: Path) -> Any:
    """A TensorBoard writer, or None where TensorBoard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(out / "tensorboard"))
