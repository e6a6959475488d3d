"""Values, rules, workflow data, errors: no input or output, no third party."""
