"""Deterministic variant assignment: the same input gives the same variant in every client, without a request."""

from __future__ import annotations

import hashlib
from typing import Optional, Sequence, Tuple


def assign_variant(
    unit: Sequence[str], variants: Sequence[str], weights: Optional[Sequence[float]] = None
) -> Optional[Tuple[str, float, str]]:
    """The variant, its weight and the assignment id; None without variants.

    ``unit`` is a seed (the project id, else the key), the environment, the key of the choice and the id of the unit, in
    this order. Without weights all variants have the same.
    """
    # Lone surrogates are not valid in UTF-8: they become U+FFFD, as in browsers.
    text = "\x1f".join(unit).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    # The first 53 bits, which a double holds exactly, as a fraction of 1.
    point = (int.from_bytes(digest[:8], "big") >> 11) / 2**53
    shares = [1] * len(variants) if weights is None else weights
    total = sum(shares)
    reached = 0.0
    for variant, weight in zip(variants, shares):
        reached += weight
        if point * total < reached:
            return variant, weight, digest[:16].hex()
    return None
