"""Eight devices for all tests: JAX asks for their number once, when its first array is made."""

import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
