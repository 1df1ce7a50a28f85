"""A headless Chromium that opens pages of `explore`, for the tests of the browser."""

import json
import time
from contextlib import contextmanager

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
)
PATIENCE = 120  # seconds; software rendering on a busy machine is slow


class Page:
    """A page in the browser."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, dark=False, width=1280, height=860):
        """Open a file and wait until it is drawn."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.cdp("Emulation.setDeviceMetricsOverride", **size)
        self.driver.get(path.absolute().as_uri())
        self.wait("globalThis.explorer")
        self.settle()

    def cdp(self, command, **parameters):
        """Send a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(command, parameters)

    def run(self, script, *arguments):
        """Run a script that returns something."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition):
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"{condition} did not become true; {self.errors()}"
            time.sleep(0.05)

    def settle(self):
        """Wait until nothing is left to be cut or drawn."""
        self.run("globalThis.settled = false; setTimeout(() => (globalThis.settled = true), 400)")
        self.wait("globalThis.settled && !explorer.pending && !explorer.plot.frame")

    def labels(self):
        """Return the labels of the page, in the order of the rows."""
        self.settle()
        return self.run("return Array.from(explorer.labels())")

    def errors(self):
        """Return what the console says since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return the addresses that were requested since the last call."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found


@contextmanager
def browser(downloads):
    """Start a browser that saves files into a folder."""
    options = Options()
    for option in OPTIONS:
        options.add_argument(option)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.set_script_timeout(PATIENCE)
    try:
        yield Page(driver)
    finally:
        driver.quit()
