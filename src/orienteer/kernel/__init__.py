"""What all compiled loops share: first values of variables, random numbers."""
