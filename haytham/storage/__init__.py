"""Paths, files, git: what is on disk, durably."""
