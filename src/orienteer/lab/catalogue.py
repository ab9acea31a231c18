"""The laboratory's methods, found through the entry point `orienteer.solvers` as anybody's would be."""

from orienteer.search.registry import Entry

SOLVERS = (
    Entry(
        "an-dqn",
        "attention network trained by double Q-learning, greedy",
        "Liu, Xu, Su, Xiao and Yang 2021",
        "orienteer.lab.networks.solvers:DqnGreedy",
    ),
    Entry(
        "an-dqn-beam",
        "the same network, step-by-step beam search",
        "Liu, Xu, Su, Xiao and Yang 2021",
        "orienteer.lab.networks.solvers:DqnBeam",
    ),
    Entry(
        "an-a2c",
        "attention network trained as actor and critic, greedy",
        "Mnih et al. 2016; Liu et al. 2021",
        "orienteer.lab.networks.solvers:A2cGreedy",
    ),
    Entry(
        "an-a2c-beam",
        "the same network, step-by-step beam search",
        "Mnih et al. 2016; Liu et al. 2021",
        "orienteer.lab.networks.solvers:A2cBeam",
    ),
    Entry(
        "an-at",
        "attention decoder on our encoder, greedy",
        "Kool, van Hoof and Welling 2019; Liu et al. 2021",
        "orienteer.lab.networks.solvers:AttentionGreedy",
    ),
    Entry(
        "an-at-beam",
        "the same network, step-by-step beam search",
        "Kool, van Hoof and Welling 2019; Liu et al. 2021",
        "orienteer.lab.networks.solvers:AttentionBeam",
    ),
    Entry(
        "an-pn",
        "pointer-network decoder on our encoder, greedy",
        "Nazari, Oroojlooy, Snyder and Takac 2018; Liu et al. 2021",
        "orienteer.lab.networks.solvers:PointerGreedy",
    ),
    Entry(
        "an-pn-beam",
        "the same network, step-by-step beam search",
        "Nazari, Oroojlooy, Snyder and Takac 2018; Liu et al. 2021",
        "orienteer.lab.networks.solvers:PointerBeam",
    ),
    Entry(
        "tsp-greedy",
        "a network for tours through every node, greedy",
        "Liu, Xu, Su, Xiao and Yang 2021",
        "orienteer.lab.tours.solvers:TourGreedy",
    ),
    Entry(
        "tsp-beam",
        "the same network, step-by-step beam search",
        "Liu, Xu, Su, Xiao and Yang 2021",
        "orienteer.lab.tours.solvers:TourBeam",
    ),
    Entry(
        "tsp-cs",
        "the same network, cost-level beam search",
        "Liu, Xu, Su, Xiao and Yang 2021",
        "orienteer.lab.tours.solvers:TourCostLevelSearch",
    ),
)
