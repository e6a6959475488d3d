"""Faults on purpose: killed processes, cut power, full and failing disks, many writers."""
