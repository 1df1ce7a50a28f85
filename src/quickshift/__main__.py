"""The command line as ``python -m quickshift``."""

from quickshift.cli import main

if __name__ == "__main__":
    main()
