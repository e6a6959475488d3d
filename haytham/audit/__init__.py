"""The audit of sessions: their log, how they were, what changed, whether all of it is still as it was written."""
