"""Background send queue and its thread.

One request after the other, each retried until it is accepted, rejected permanently, or dropped. Bodies are queued
as text, so that retries are identical.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import threading
import time
import urllib.error
import urllib.request
import weakref
from collections import deque
from typing import Any, Callable, Deque, List, Mapping, Optional, Tuple

BATCH_ITEMS = 10
# Of the texts of a queue of up to LENGTH_ITEMS items; longer queues may have more in proportion.
LENGTH_MAX = 20_000_000
LENGTH_ITEMS = 10_000
FLUSH_DELAY_S = 2.0
# A backlog is sent in larger batches, well below the limit of the service.
PILED_ITEMS_MAX = 500
PILED_LENGTH_MAX = 1_000_000
REQUEST_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 10.0
RETRIES_MAX = 3
RETRY_AFTER_S_MAX = 60.0
TOO_LARGE = 413

Item = Tuple[str, str]


class ServiceError(Exception):
    """An error response of the service."""

    def __init__(self, status: int, message: str, details: Optional[List[Any]] = None) -> None:
        super().__init__(message)
        self.status = status
        #: Of a query: every mistake, with its place.
        self.details = details or []


def retry_delay_s(retry: int, retry_after: Optional[str]) -> float:
    """Seconds before retry 0, 1 or 2: 1, 2 and 4, or Retry-After if that is longer."""
    try:
        asked = float(retry_after or 0)
    except ValueError:
        asked = 0.0
    return max(2.0**retry, min(asked, RETRY_AFTER_S_MAX))


def to_json(body: Any) -> str:
    """Like JSON.stringify: NaN and infinities become null. Mappings become objects, other unsupported values text.

    Numbers of NumPy become numbers, booleans and lists, and missing values of pandas null.
    """
    try:
        try:
            return json.dumps(body, separators=(",", ":"), default=_to_supported, allow_nan=False)
        except ValueError:
            return json.dumps(_without_nan(body), separators=(",", ":"), default=str)
    except RecursionError:
        raise ValueError("properties contain themselves, or are nested too deeply") from None


def _to_supported(value: Any) -> Any:
    value = to_builtin(value)
    if isinstance(value, Mapping):
        return dict(value)
    return value if value is None or isinstance(value, (bool, int, float, list)) else str(value)


def to_builtin(value: Any) -> Any:
    """The Python value of a number of NumPy, and None for a missing value of pandas or NumPy; others as they are.

    By the names of their types: neither is imported.
    """
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    # Booleans, integers and floats. Times would become nanoseconds.
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", None) in ("b", "i", "u", "f"):
        value = value.tolist()
    return None if isinstance(value, float) and math.isnan(value) else value


def _without_nan(value: Any) -> Any:
    value = to_builtin(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return value


def post(url: str, key: str, body: str, timeout_s: float) -> str:
    """The text of a successful response; otherwise raises ServiceError, with its Retry-After as ``retry_after``."""
    headers = {"Content-Type": "application/json", "X-API-Key": key}
    request = urllib.request.Request(url, data=body.encode("utf-8"), headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            # A redirect repeats a POST as a GET, without its body: any page answers 200.
            if response.geturl() != url:
                raise ServiceError(response.status, f"the request was redirected to {response.geturl()}")
            # Login pages of networks and maintenance pages of proxies come with 200.
            if response.headers.get_content_type() == "text/html":
                raise OSError(f"a page answered instead of the service at {url}")
            return response.read().decode("utf-8")
    except urllib.error.HTTPError as answer:
        with answer:
            error = to_service_error(answer.code, answer.read().decode("utf-8", "replace"))
        error.retry_after = answer.headers.get("Retry-After")  # type: ignore[attr-defined]
        raise error from None


def to_service_error(status: int, text: str) -> ServiceError:
    """The message is that of the service; of any other body, its text, and without one the status."""
    try:
        body = json.loads(text)
        return ServiceError(status, body["error"], body.get("details"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ServiceError(status, text or f"status {status}")


class SendQueue:
    """Open until ``close``, which sends the remaining items; afterwards the queue accepts no more."""

    def __init__(self, host: str, key: str, queue_max: int, on_error: Callable[[Exception, int], None]) -> None:
        self._host = host
        self._key = key
        self._queue_max = queue_max
        self._on_error = on_error
        self._items: Deque[Item] = deque()
        self._closed = False
        self._start()
        _queues.add(self)

    def _start(self) -> None:
        self._changed = threading.Condition()
        self._thread: Optional[threading.Thread] = None
        self._flying = 0
        # Characters of all items, those in flight included.
        self._length = 0
        self._added = 0
        self._settled = 0
        self._wanted = 0
        self._deadline: Optional[float] = None
        self._is_ended = threading.Event()

    def add(self, route: str, text: str) -> bool:
        """Whether the item, as JSON, is queued; otherwise it is reported as lost."""
        refusal = None
        with self._changed:
            if self._closed:
                refusal = "the client is closed"
            elif len(self._items) + self._flying >= self._queue_max:
                refusal = f"the queue is full: {self._queue_max} wait to be sent"
            elif self._length >= LENGTH_MAX * max(1, self._queue_max / LENGTH_ITEMS):
                refusal = f"the queue is full: {self._length} characters wait to be sent"
            else:
                if self._thread is None:
                    # First, and kept once it has started: a process may be out of threads for a moment.
                    thread = threading.Thread(target=self._run, name="event-analytics", daemon=True)
                    thread.start()
                    self._thread = thread
                self._items.append((route, text))
                self._added += 1
                self._length += len(text)
                if self._deadline is None:
                    self._deadline = time.monotonic() + FLUSH_DELAY_S
                if len(self._items) in (1, BATCH_ITEMS):
                    self._changed.notify_all()
        if refusal is not None:
            self._report(RuntimeError(refusal), 1)
        return refusal is None

    def flush(self, timeout_s: Optional[float] = None) -> bool:
        """Waits until everything queued so far has been delivered or reported as lost; False when that took too long.

        Does not wait in ``on_error``, which the thread calls that sends.
        """
        with self._changed:
            wanted = self._wanted = self._added
            self._changed.notify_all()
            if threading.current_thread() is self._thread:
                return self._settled >= wanted
            return self._changed.wait_for(lambda: self._settled >= wanted, timeout_s)

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        deadline = time.monotonic() + timeout_s
        with self._changed:
            if self._closed:
                return
            self._closed = True
        if self.flush(timeout_s):
            # It ends by itself after reporting undelivered items.
            thread = self._thread
            if thread is not None and thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))
        else:
            self._is_ended.set()
            with self._changed:
                lost = len(self._items) + self._flying
                self._items.clear()
                self._settled = self._added
                self._changed.notify_all()
            self._report(RuntimeError("the client was closed before this was sent"), lost)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._is_due():
                    if self._closed and not self._items:
                        return
                    self._changed.wait(self._until_due())
                batch = self._take()
                self._flying = len(batch)
            self._settle(batch)

    def _settle(self, batch: List[Item]) -> None:
        """Delivers the items or reports them as lost.

        A body above the limit of a proxy, which may be lower than that of the service, is sent in halves.
        """
        error = self._deliver(batch)
        if self._is_ended.is_set():
            # ``close`` has reported everything that was not sent.
            return
        if isinstance(error, ServiceError) and error.status == TOO_LARGE and len(batch) > 1:
            middle = (len(batch) + 1) // 2
            for half in (batch[:middle], batch[middle:]):
                if not self._is_ended.is_set():
                    self._settle(half)
            return
        with self._changed:
            self._flying -= len(batch)
            self._length -= sum(len(text) for _, text in batch)
            self._settled += len(batch)
            self._changed.notify_all()
        if error is not None:
            try:
                self._report(error, len(batch))
            except BaseException:  # sys.exit in the callback would end only this thread, and flush would wait forever.
                pass

    def _is_due(self) -> bool:
        if not self._items:
            return False
        is_late = self._deadline is not None and time.monotonic() >= self._deadline
        return is_late or len(self._items) >= BATCH_ITEMS or self._settled < self._wanted

    def _until_due(self) -> Optional[float]:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _take(self) -> List[Item]:
        """The next request: an identify alone, or the events before the next identify."""
        batch = [self._items.popleft()]
        length = len(batch[0][1])
        while self._items and batch[0][0] == "/track" == self._items[0][0] and len(batch) < PILED_ITEMS_MAX:
            length += len(self._items[0][1])
            if length > PILED_LENGTH_MAX:
                break
            batch.append(self._items.popleft())
        self._deadline = time.monotonic() if self._items else None
        return batch

    def _deliver(self, batch: List[Item]) -> Optional[Exception]:
        """Reports a permanent failure."""
        route = batch[0][0]
        texts = ",".join(text for _, text in batch)
        body = '{"events":[' + texts + "]}" if route == "/track" else texts
        retry = 0
        while True:
            retry_after = None
            try:
                post(self._host + route, self._key, body, REQUEST_TIMEOUT_S)
                return None
            except ServiceError as answer:
                error: Exception = answer
                retry_after = getattr(answer, "retry_after", None)
                is_final = answer.status != 429 and answer.status < 500
            except Exception as problem:  # A missing response is retried like a 5xx.
                error = problem
                is_final = False
            if is_final or retry == RETRIES_MAX or self._is_ended.wait(retry_delay_s(retry, retry_after)):
                return error
            retry += 1

    def _report(self, error: Exception, lost: int) -> None:
        try:
            self._on_error(error, lost)
        except Exception:  # An error in the callback cannot be reported.
            pass


# All queues in use. Python cannot unregister a fork handler, so it is registered once.
_queues: "weakref.WeakSet[SendQueue]" = weakref.WeakSet()


def _close_all() -> None:
    for queue in list(_queues):
        queue.close()


def _restart_all() -> None:
    """A forked process has no thread, and possibly a held lock. The parent sends the queued items."""
    for queue in list(_queues):
        queue._items.clear()
        queue._start()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_all)
