"""The network on a CPU: numpy and compiled loops."""
