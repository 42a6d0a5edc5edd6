"""The front's end of running a call."""
