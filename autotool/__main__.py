"""The `autotool` command."""

import sys


def main() -> None:
    """Run the command line. A worker for `serve` is started first, so that it imports while this process does."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["serve"] and not {"--help", "-h", "--inline"} & set(arguments):
        from autotool.runtime import spawn

        spawn.start_early()
    from autotool.cli import quick

    quick.run(arguments)


if __name__ == "__main__":
    main()
