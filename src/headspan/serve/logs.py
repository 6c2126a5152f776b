"""Logs as JSON lines on standard error. They never contain the texts that were parsed."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

_LOGGER = logging.getLogger("headspan.serve")


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage().strip(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= _error_fields(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def _error_fields(error: BaseException) -> dict[str, Any]:
    """The type and place of an error, without its message, which may quote a text."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "where": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def log(
    event: str, *, level: int = logging.INFO, error: BaseException | None = None, **fields: Any
) -> None:
    """Log an event with its fields."""
    _LOGGER.log(level, event, exc_info=error, extra={"fields": fields})


def configure(*, requests: bool = True) -> None:
    """Send the service's logs, and all warnings, to standard error as JSON lines.

    requests: whether requests that did not fail are logged, too.
    """
    logging.captureWarnings(True)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    for name, level in (
        ("headspan.serve", logging.INFO if requests else logging.WARNING),
        ("uvicorn.error", logging.WARNING),
        ("py.warnings", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
