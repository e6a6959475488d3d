"""Journals: the states of agents at work, saved step by step."""
