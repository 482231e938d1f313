"""Doctor: a list of checks with stable ids, run over an opened vault or over what is left of one."""
