"""Training: environments, replay memory and one file for each training loop."""
