"""`python -P -m autotool.worker FD`: a worker of the front at the other end of socket FD."""

import sys

from autotool.worker.zygote import main

if __name__ == "__main__":
    main(int(sys.argv[1]))
