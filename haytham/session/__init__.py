"""The handle that an orchestrator drives a session with."""
