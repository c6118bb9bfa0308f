"""The outside world behind the ports. Retries are not logged: an error may quote what people wrote."""

import stamina

stamina.instrumentation.set_on_retry_hooks(())
