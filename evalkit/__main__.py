"""``python -m evalkit``."""

from evalkit.cli import run

if __name__ == "__main__":
    run()
