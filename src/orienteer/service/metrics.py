"""Metrics for Prometheus, and the log of requests."""

import logging
import time
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orienteer.service.store import Counts

MEDIA = "text/plain; version=0.0.4; charset=utf-8"

PROBES = ("/healthz", "/readyz", "/metrics")
"""Routes that machines ask all the time, which would fill the log."""

_log = logging.getLogger("orienteer.requests")


class Metrics:
    """What is counted; a registry of its own, so that an application can be made twice in a process."""

    def __init__(self, state: Any):
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "orienteer_requests", "Requests by route and status.", ("route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "orienteer_request_seconds", "Seconds until the answer begins.", ("route",), registry=self.registry
        )
        self.registry.register(_Now(state))

    def text(self) -> bytes:
        """All metrics in the format of Prometheus."""
        return generate_latest(self.registry)


class _Now(Collector):
    """What is read when it is asked for."""

    def __init__(self, state: Any):
        self.state = state

    def collect(self) -> Iterator[Metric]:
        pool, jobs = getattr(self.state, "pool", None), getattr(self.state, "jobs", None)
        if pool is None or jobs is None:
            return
        counts: Counts = getattr(self.state, "counts", Counts(0, 0))
        for name, text, value in (
            ("jobs_queued", "Jobs that wait for a worker.", counts.queued),
            ("jobs_running", "Jobs that are searched.", counts.running),
            ("jobs_ended", "Jobs that ended since the start.", jobs.ended),
            ("workers", "Worker processes that are warm.", sum(bool(one.device) for one in pool.workers.values())),
            ("workers_busy", "Worker processes with a task.", pool.busy),
            ("workers_replaced", "Worker processes that died since the start.", pool.restarts),
            ("requests_waiting", "Requests whose clients wait for a plan.", self.state.in_flight),
            ("streams", "Open streams of events.", self.state.streams),
        ):
            yield GaugeMetricFamily(f"orienteer_{name}", text, value)


class Watch:
    """An ASGI layer that counts requests by their route, and logs them without query and headers."""

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                route = getattr(scope.get("route"), "path", "other")
                seconds = time.perf_counter() - began
                self.metrics.requests.labels(route, str(status)).inc()
                self.metrics.seconds.labels(route).observe(seconds)
                if route not in PROBES:
                    _log.info("%s %s %d %.1f ms", scope["method"], route, status, 1000 * seconds)
            await send(message)

        await self.app(scope, receive, send_counted)
