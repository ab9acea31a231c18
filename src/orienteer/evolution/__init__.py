"""EA4OP, the genetic algorithm known as Compass."""
