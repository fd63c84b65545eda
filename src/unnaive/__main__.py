"""``python -m unnaive`` is the command ``unnaive``."""

from unnaive.cli.start import main

if __name__ == "__main__":
    main()
