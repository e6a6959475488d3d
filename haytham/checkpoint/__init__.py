"""Sessions, their phases, outputs, reviews."""
