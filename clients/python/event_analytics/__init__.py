"""Client of the Event Analytics Service: events, identities, queries and choices.

Tracking calls only queue and never wait. Misuse raises at once; what cannot be delivered is told to ``on_error``.
"""

from ._client import Client, ServiceError
from ._version import VERSION as __version__

__all__ = ["Client", "ServiceError", "__version__"]
