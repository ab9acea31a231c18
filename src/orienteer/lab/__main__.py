"""`python -m orienteer.lab`: the command with our experiments, where the package lies in a folder, not installed.

There no entry point tells the command line of them.
"""

from orienteer.cli.main import cli, main
from orienteer.lab.commands.bench import bench

if __name__ == "__main__":
    cli.add_command(bench)
    main()
