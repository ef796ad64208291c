"""Benchmarks of mercer against its peers and against the machine; see README.md."""
