"""What is done with whole sessions: fork, roll back, compare, archive, delete, clean up, repair."""
