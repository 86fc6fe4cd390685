"""The test machines: images (built once), machines (qemu), the command channel, the suites."""
