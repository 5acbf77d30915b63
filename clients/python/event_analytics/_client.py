"""Client API: tracking calls enqueue without waiting; failed deliveries go to ``on_error``."""

from __future__ import annotations

import inspect
import json
import os
import secrets
import threading
import time
import weakref
from collections import OrderedDict
from datetime import date, datetime, timezone as utc_zone
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Sequence, Union

from ._assignment import assign_variant
from ._queue import SendQueue, ServiceError, post, to_builtin, to_json
from ._version import VERSION

__all__ = ["Client", "ServiceError"]

QUEUE_ITEMS_MAX = 10_000
QUERY_TIMEOUT_S = 60.0
EXPOSURE_REMEMBERED_S = 30 * 60
EXPOSURES_REMEMBERED_MAX = 10_000
# Placeholder ids of programs without an id: accepting them would merge unrelated people.
PLACEHOLDER_IDS = {"", "None", "null", "undefined", "NaN", "nan", "[object Object]"}

Properties = Mapping[str, Any]


class Client:
    """Queues events, and sends them from a background thread, ten at a time or after two seconds.

    ``project_id`` makes choices independent of the key: give it to every client. ``on_error`` is called with the error and the
    number of lost items. Also a context manager, which closes at the end.
    """

    def __init__(
        self,
        key: str,
        host: str,
        *,
        project_id: Optional[str] = None,
        queue_max: int = QUEUE_ITEMS_MAX,
        on_error: Callable[[Exception, int], None] = lambda error, lost: None,
    ) -> None:
        if not key or not host:
            raise ValueError("a client needs a key and a host")
        self._key = key
        self._host = host.rstrip("/")
        self._seed = project_id or key
        self._queue = SendQueue(self._host, key, queue_max, on_error)
        self._exposures: "OrderedDict[str, float]" = OrderedDict()
        self._exposures_lock = threading.Lock()
        _clients.add(self)

    def track(
        self,
        event_type: str,
        *,
        user_id: Optional[str] = None,
        device_id: Optional[str] = None,
        session_id: Optional[str] = None,
        time: Union[str, float, date, None] = None,
        insert_id: Optional[str] = None,
        event_properties: Optional[Properties] = None,
        user_properties: Optional[Properties] = None,
    ) -> None:
        """Queues an event. Returns at once; raises ValueError without an event type."""
        text = _to_event_text(
            event_type,
            user_id=user_id,
            device_id=device_id,
            session_id=session_id,
            time=time,
            insert_id=insert_id,
            event_properties=event_properties,
            user_properties=user_properties,
        )
        self._queue.add("/track", text)

    def track_batch(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Queues events, each a mapping with the arguments of ``track``.

        Queues all or none: raises ValueError or TypeError for an invalid event before the first is queued.
        """
        for text in [_mapping_to_text(event) for event in events]:
            self._queue.add("/track", text)

    def identify(
        self,
        user_id: str,
        *,
        device_id: Optional[str] = None,
        user_properties: Optional[Properties] = None,
        user_property_ops: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Queues a device mapping and user properties. Raises ValueError without a user id."""
        user_id = _to_id(user_id)
        if isinstance(user_id, bool) or str(user_id) in PLACEHOLDER_IDS:
            raise ValueError("identify needs a user_id")
        call = {
            "user_id": str(user_id),
            "device_id": _to_id(device_id),
            "user_properties": user_properties,
            "user_property_ops": user_property_ops,
        }
        self._queue.add("/identify", to_json({name: value for name, value in call.items() if value is not None}))

    def query(
        self,
        q: str,
        *,
        format: str = "json",
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        timezone: Optional[str] = None,
    ) -> Any:
        """The answer: an object for ``json``, text for ``llm`` and ``csv``. Raises ServiceError with every problem of the query.

        Requires a secret key, or a token with the scope ``query``. Blocks until the response.
        """
        body = {"q": q, "format": format, "limit": limit, "offset": offset, "timezone": timezone}
        text = json.dumps({name: value for name, value in body.items() if value is not None})
        answer = post(f"{self._host}/query", self._key, text, QUERY_TIMEOUT_S)
        return json.loads(answer) if format == "json" else answer

    def assign(
        self,
        key: str,
        variants: Sequence[str],
        *,
        user_id: Optional[str] = None,
        device_id: Optional[str] = None,
        session_id: Optional[str] = None,
        unit: Optional[str] = None,
        weights: Optional[Sequence[float]] = None,
        version: Union[str, int, None] = None,
        environment: str = "production",
    ) -> Dict[str, Any]:
        """The variant of a user or device, always the same; sends no request and records no exposure."""
        user_id, device_id, session_id = _to_id(user_id), _to_id(device_id), _to_id(session_id)
        unit = unit or ("user_id" if user_id else "device_id")
        subject = {"user_id": user_id, "device_id": device_id}.get(unit)
        if not subject:
            raise ValueError(f"a choice by {unit} needs a {unit}")
        if weights is not None and len(weights) != len(variants):
            raise ValueError("a choice needs a weight for each variant")
        assigned = assign_variant((self._seed, environment, key, subject), variants, weights)
        if assigned is None:
            raise ValueError("a choice needs variants, and a positive weight")
        assignment = {
            "choice_key": key,
            "variant_key": assigned[0],
            "variant_weight": assigned[1],
            "choice_version": version,
            "environment": environment,
            "randomization_unit": unit,
            "assignment_id": assigned[2],
            "user_id": user_id,
            "device_id": device_id,
            "session_id": session_id,
        }
        return {name: value for name, value in assignment.items() if value is not None}

    def expose(self, assignment: Mapping[str, Any]) -> None:
        """Records an exposure of the unit to its variant, at most once per half hour."""
        assignment_id = assignment["assignment_id"]
        ids = {name: assignment.get(name) for name in ("user_id", "device_id", "session_id")}
        properties = {name: value for name, value in assignment.items() if name not in ids}
        text = _to_event_text("service.exposure", insert_id=assignment_id, event_properties=properties, **ids)
        # Remembered last: properties that cannot be serialized raise above.
        if not self._is_new_exposure(assignment_id):
            return
        if not self._queue.add("/track", text):
            with self._exposures_lock:
                self._exposures.pop(assignment_id, None)

    def choice(self, key: str, variants: Sequence[str], **options: Any) -> str:
        """Assigns and records; options are those of ``assign``."""
        assignment = self.assign(key, variants, **options)
        self.expose(assignment)
        return assignment["variant_key"]

    def flush(self, timeout_s: Optional[float] = None) -> bool:
        """Waits until everything queued so far has been delivered or reported as lost; False when that took too long."""
        return self._queue.flush(timeout_s)

    def close(self) -> None:
        """Sends the remaining items, for ten seconds at most. Later calls are lost, and reported to ``on_error``."""
        self._queue.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _is_new_exposure(self, assignment_id: str) -> bool:
        now = time.monotonic()
        with self._exposures_lock:
            recorded_at = self._exposures.pop(assignment_id, None)
            is_new = recorded_at is None or now - recorded_at >= EXPOSURE_REMEMBERED_S
            self._exposures[assignment_id] = now if recorded_at is None or is_new else recorded_at
            if len(self._exposures) > EXPOSURES_REMEMBERED_MAX:
                self._exposures.popitem(last=False)
            return is_new


# All clients in use. Python cannot unregister a fork handler, so it is registered once.
_clients: "weakref.WeakSet[Client]" = weakref.WeakSet()


def _renew_locks() -> None:
    """A thread that a forked process does not have may have held the lock."""
    for client in list(_clients):
        client._exposures_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def _to_event_text(
    event_type: str,
    *,
    user_id: Any = None,
    device_id: Any = None,
    session_id: Any = None,
    time: Union[str, float, date, None] = None,
    insert_id: Any = None,
    event_properties: Optional[Properties] = None,
    user_properties: Optional[Properties] = None,
) -> str:
    if not isinstance(event_type, str) or not event_type:
        raise ValueError("an event needs an event_type")
    event = {
        "event_type": event_type,
        "user_id": _to_id(user_id),
        "device_id": _to_id(device_id),
        "session_id": _to_id(session_id),
        "time": _to_time(to_builtin(time) or datetime.now(utc_zone.utc)),
        "insert_id": _to_id(insert_id) or secrets.token_hex(16),
        "library": f"service-python/{VERSION}",
        "event_properties": event_properties,
        "user_properties": user_properties,
    }
    return to_json({name: value for name, value in event.items() if value is not None})


def _mapping_to_text(event: Mapping[str, Any]) -> str:
    wrong = sorted(event.keys() - EVENT_ARGUMENTS)
    if wrong:
        raise TypeError(f"an event has no {wrong[0]!r}: its names are {', '.join(sorted(EVENT_ARGUMENTS))}")
    if "event_type" not in event:
        raise TypeError("an event needs an event_type")
    return _to_event_text(**event)


EVENT_ARGUMENTS = frozenset(inspect.signature(_to_event_text).parameters)


def _to_id(value: Any) -> Any:
    """The text of an id such as a UUID or a number, because many JSON parsers round large numbers.

    7.0, as in tables with missing values, becomes 7, and a missing value is no id. Other floats and booleans are no ids: the service skips their events.
    """
    value = to_builtin(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if value is None or isinstance(value, (bool, float)) else str(value)


def _to_time(moment: Any) -> Any:
    """The text of a datetime. Numbers are epoch seconds or milliseconds, and dates are midnight in UTC, as in the HTTP API."""
    if not isinstance(moment, datetime):
        return moment
    if hasattr(moment, "to_pydatetime"):
        # A Timestamp of pandas without a time zone refuses astimezone.
        moment = moment.to_pydatetime(warn=False)
    in_utc = moment.astimezone(utc_zone.utc)
    return in_utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
