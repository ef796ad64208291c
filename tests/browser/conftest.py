"""These tests need a browser, so that only `make test-browser` runs them: elsewhere the folder is empty."""

import os

collect_ignore_glob = [] if os.environ.get("MERCER_BROWSER") else ["test_*.py"]
