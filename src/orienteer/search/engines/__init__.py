"""Where the instances of a batch are solved: in this process, in several, or on the machines of a Ray cluster."""
