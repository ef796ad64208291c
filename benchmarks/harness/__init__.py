"""The benchmark harness: rows, measuring, data and the report."""
