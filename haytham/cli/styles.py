"""The colours of statuses and decisions, the same in every command."""

STYLES = {
    "completed": "green",
    "approved": "green",
    "active": "green",
    "in_progress": "yellow",
    "requires_retry": "yellow",
    "changes": "yellow",
    "retry_with_changes": "yellow",
    "partly": "yellow",
    "review": "yellow",
    "retry": "yellow",
    "run_again": "yellow",
    "failed": "red",
    "unreadable": "red",
}
