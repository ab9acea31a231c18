"""What every solver shares: its contract, a run, stop criteria, the registry, the front door and the default method."""
