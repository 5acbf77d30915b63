"""Makes the calls that a test hands over on standard input with the Python client, and prints what came of them."""

import json
import sys
import time

given = json.load(sys.stdin)
sys.path.insert(0, given["package"])
from event_analytics import Client  # noqa: E402

lost = []
client = Client(
    given["key"],
    given["host"],
    project_id=given.get("project_id"),
    queue_max=given.get("queue_max", 10_000),
    on_error=lambda error, count: lost.append(count),
)
results = []
started = time.monotonic()
for call in given["calls"]:
    call = dict(call)
    name = call.pop("call")
    try:
        if name == "choice":
            results.append(client.choice(call["key"], call["variants"], device_id="d-1", **call["options"]))
        elif name == "assign":
            results.append(client.assign(**call))
        elif name == "query":
            results.append(client.query(call["q"]))
        else:
            results.append(getattr(client, name)(**call))
    except ValueError:
        results.append("refused")
if given.get("flush", True):
    client.flush(given.get("flush_timeout"))
elif not given.get("end"):
    # Ten events, or two seconds, bring it about by themselves.
    time.sleep(5)
print(json.dumps({"results": results, "lost": sum(lost), "seconds": time.monotonic() - started}))
