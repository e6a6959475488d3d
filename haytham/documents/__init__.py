"""Text to values, values to text: no disk."""
