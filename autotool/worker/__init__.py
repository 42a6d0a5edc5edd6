"""The worker's end of running a call."""
