"""Projects, the folders that hold sessions."""
