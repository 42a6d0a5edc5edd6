"""`python -P -m autotool.worker FD`: a worker of the front at the other end of socket FD."""

import gc
import sys

# Importing makes many objects that stay; looking for garbage among them costs a tenth of the start.
gc.disable()

from autotool.worker.zygote import main  # noqa: E402 - as said above

if __name__ == "__main__":
    main(int(sys.argv[1]))
