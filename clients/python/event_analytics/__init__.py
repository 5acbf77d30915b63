"""Client of the Event Analytics Service: events, identities, queries and choices.

Tracking calls enqueue and never wait. Invalid arguments raise at once; failed deliveries go to ``on_error``.
"""

from ._client import Client, ServiceError
from ._version import VERSION as __version__

__all__ = ["Client", "ServiceError", "__version__"]
