"""The command `headspan`: one file per command, each a thin layer over the library."""


def main() -> None:
    """Run the command line. Ctrl-C ends it quietly, even while libraries are loading."""
    try:
        from headspan.cli.running import run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
