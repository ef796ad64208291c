"""Chromium without a window, spoken to through two pipes: what it shows, says and asks for."""

import base64
import itertools
import json
import os
import subprocess
import tempfile
import time

# What a browser does on its own account is no request of the page.
QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 60.0  # seconds, for one answer; a hang must not last for ever


class Chromium:
    """One browser with one tab; messages of its protocol end with a zero byte."""

    def __init__(self, command):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        os.set_blocking(self._read, False)

        def ends():  # the browser reads from 3 and writes to 4
            for end, place in ((os.dup(to_read), 3), (os.dup(to_write), 4)):
                os.dup2(end, place)

        self._process = subprocess.Popen(
            [command, *QUIET, f"--user-data-dir={self.home.name}", "about:blank"],
            close_fds=False, preexec_fn=ends,  # noqa: PLW1509 (it only renames two pipes)
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._numbers, self._left, self.events, self._session = itertools.count(1), b"", [], None
        targets = self.ask("Target.getTargets")["targetInfos"]
        tab = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{part}.enable")

    def close(self):
        self._process.terminate()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self.home.cleanup()

    def ask(self, method, **params):
        """The answer to a question; events that come meanwhile are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._until(lambda found: found.get("id") == number)["result"]

    def visit(self, path, *, width=1000, height=800, dark=False, mobile=False, media=""):
        """Open a file in a window of some size and theme."""
        self.events.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.ask("Page.navigate", url=path.as_uri())
        self._until(lambda found: found.get("method") == "Page.loadEventFired")
        self.value("document.fonts.ready.then(() => 1)")

    def value(self, script):
        """What a script in the page comes to. (The page itself runs none: its policy forbids it.)"""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path):
        """The whole page as PNG."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def printed(self):
        """The page as PDF."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=False)["data"])

    def heard(self, *methods):
        """The events of some kinds since the last visit."""
        return [event for event in self.events if event["method"] in methods]

    def _until(self, is_wanted):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            while b"\0" in self._left:
                message, _, self._left = self._left.partition(b"\0")
                found = json.loads(message)
                if "method" in found:
                    self.events.append(found)
                if is_wanted(found):
                    assert "error" not in found, found
                    return found
            try:
                self._left += os.read(self._read, 1 << 16)
            except BlockingIOError:
                assert self._process.poll() is None, "the browser has ended"
                time.sleep(0.01)
        raise TimeoutError("the browser does not answer")
