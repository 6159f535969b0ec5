"""The command line of the oracle; workers import `rounds` by its name."""

import sys

from tests.oracle.rounds import main

if __name__ == "__main__":
    sys.exit(main())
