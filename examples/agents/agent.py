"""An agent: takes calls of steps with `queue` from PostgreSQL, and answers them.

pip install "psycopg[binary]"; python agent.py postgres://agent@localhost/app gpu"""

import json
import sys
import threading
import time
from contextlib import suppress

import psycopg

LEASE = 30.0  # seconds; an agent that dies costs so much, so it is short, and extended


class Permanent(Exception):
    """Another attempt would fail, too."""


def work(step, key, *arguments):
    """Does the work. Services get `key`, which is the same in all attempts."""
    if step == "render":
        return {"picture": f"{arguments[0]} {key}"}
    raise Permanent(f"this agent does not know the step `{step}`")


def extend(url, call, is_over):
    """Keeps the call as long as the work takes: after an outage the next time may still be early enough."""
    while not is_over.wait(LEASE / 3):
        with suppress(psycopg.Error), psycopg.connect(url, autocommit=True, connect_timeout=5) as own:
            row = own.execute("SELECT retry_extend(%s, %s, %s)", (call["call"], call["attempt"], LEASE))
            if not row.fetchone()[0]:
                return  # others have it now; `finish` will be false, too


def answer(connection, url, call):
    is_over = threading.Event()
    threading.Thread(target=extend, args=(url, call, is_over), daemon=True).start()
    own = (call["call"], call["attempt"])
    try:
        result = work(call["step"], call["key"], *call["input"])
        connection.execute("SELECT retry_finish(%s, %s, %s)", (*own, json.dumps(result, allow_nan=False)))
    except psycopg.Error:
        raise  # whether it counts is unknown; the call is offered again if not
    except Exception as error:
        verdict = "permanent" if isinstance(error, Permanent) else "transient"
        connection.execute("SELECT retry_fail(%s, %s, %s, %s)", (*own, str(error).replace("\0", " "), verdict))
    finally:
        is_over.set()


def main(url, queue):
    # Without autocommit the take would not be committed before the work, and `finish` fails.
    with psycopg.connect(url, autocommit=True) as connection:
        while True:
            call = connection.execute("SELECT retry_take(%s, %s)", (queue, LEASE)).fetchone()[0]
            answer(connection, url, call) if call else time.sleep(0.5)


if __name__ == "__main__":
    main(*sys.argv[1:])
