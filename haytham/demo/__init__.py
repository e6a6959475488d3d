"""A session of the built-in workflow, played by scripted agents that need no network."""
