"""The whole service inside a process, on a folder, without a broker of your own.

    with local("./memory") as client:
        client.send_user_message("s1", "The kiln is called K-4711.")

`async with local("./memory") as client:` gives the asynchronous client. It needs the extra `service`, `pip install '.[service]'`
in a clone of the repository. `local(url="nats://…")` is a client of a service that runs elsewhere, and starts nothing.
"""

from builder.local.opening import Local, local

__all__ = ["Local", "local"]
