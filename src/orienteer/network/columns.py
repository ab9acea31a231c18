"""The numbers that networks read: what each means, in which column it stands, and where it is cut off.

Plain tensors, the loops of a CPU and the kernels of a GPU write these columns; all take their places from here.
"""

NODE_FEATURES = ("prize", "current", "end", "choice", "leg", "home", "detour")
"""Features of each node; the paper's network reads the first three: the prize and two flags."""
PRIZE, CURRENT, END, CHOICE, LEG, HOME, DETOUR = range(len(NODE_FEATURES))
PAPER_NODE_FEATURES = 3

GLOBAL_FEATURES = ("hops", "count", "way home")
"""Features of a whole sub-problem; the paper's network reads the first: the limit, in typical steps."""
GLOBAL_HOPS, GLOBAL_COUNT, GLOBAL_WAY_HOME = range(len(GLOBAL_FEATURES))
PAPER_GLOBAL_FEATURES = 1

BASE_FEATURES = ("count", "steps", "mean")
"""Sizes on which the value to go depends almost linearly: how many nodes may still be visited, how many steps are left
for them, and the geometric mean of both."""
BASE_COUNT, BASE_STEPS, BASE_MEAN = range(len(BASE_FEATURES))

FAR = 4.0
"""Costs, in units of the remaining limit, are cut off here: beyond 1 nothing can be travelled anyway."""
CLOSEST = 1e-3
"""The typical step is at least this share of the remaining limit, also where nodes coincide."""
LEAST_LEFT = 1e-9
"""What is left of a limit is at least this share of the whole, so that it can divide."""

EDGE_FUNCTIONS = 5
"""Functions of the cost c of an edge, in units of the remaining limit, that biases of attention are mixtures of:
c, exp(-8 c), exp(-32 c), exp(-hops c), exp(-hops c / 4), where hops is the remaining limit in typical steps."""
EDGE_WEIGHTS = 2 * EDGE_FUNCTIONS
"""Weights of a head: of the functions of the cost there, then of the functions of the cost back."""
LIMIT_RATE = 8.0
"""The slower of the two rates that hang on the remaining limit."""
STEP_RATE = 0.25
"""The slower of the two rates that hang on the typical step, in units of hops."""
FASTER = 4
"""How many times as fast the faster function of each pair falls: the slower function's value to this power."""
