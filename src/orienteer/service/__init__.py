"""The HTTP service: problems in, plans out, by worker processes (extra `service`)."""
