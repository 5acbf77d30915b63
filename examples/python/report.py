"""Tracks the purchases of a day and prints what they came to: SERVICE_URL and SERVICE_KEY (a secret key) from the environment."""

import os
import time

from event_analytics import Client, ServiceError

PURCHASES = [("ada", "books", 12.5), ("grace", "tools", 80), ("ada", "tools", 19.9)]

with Client(
    os.environ["SERVICE_KEY"],
    os.environ.get("SERVICE_URL", "http://localhost:8080"),
    on_error=lambda error, lost: print(f"{lost} events lost: {error}"),
) as client:
    for user, category, amount in PURCHASES:
        client.track("purchase", user_id=user, event_properties={"category": category, "amount": amount})
    client.flush()

    question = "purchase | last 1h | sum event_properties.amount by event_properties.category"
    try:
        # An event is counted within a second of being accepted.
        for _ in range(30):
            answer = client.query(question)
            if answer["rows"]:
                break
            time.sleep(0.5)
        print(client.query(question, format="llm"))
    except ServiceError as error:
        print(error, error.details)
