"""Sessions and projects on their way to other people and machines."""
