"""`python -m orienteer`: the same as the command."""

from orienteer.cli.main import main

if __name__ == "__main__":
    main()
