"""Step-by-step and cost-level beam search, batched on tensors."""
