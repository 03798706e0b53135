"""Photographs pages with headless Chromium, by the WebDriver protocol: screenshot.py URL FILE [URL FILE …]. SIZE is the window's, as in 1500,1300."""

import base64
import json
import os
import subprocess
import sys
import time
import urllib.request

PORT = 9517
CHROMIUM = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=" + os.environ.get("SIZE", "1500,1300")]


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["value"]


def ready():
    for _ in range(100):
        try:
            return call("GET", "/status")
        except OSError:
            time.sleep(0.1)
    raise SystemExit("chromedriver does not answer")


driver = subprocess.Popen(["chromedriver", f"--port={PORT}"], stdout=subprocess.DEVNULL)
try:
    ready()
    options = {"browserName": "chrome", "goog:chromeOptions": {"args": CHROMIUM}}
    session = "/session/" + call("POST", "/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]
    for url, file in zip(sys.argv[1::2], sys.argv[2::2]):
        call("POST", session + "/url", {"url": url})
        time.sleep(8)  # the page fetches for a while after it has loaded
        with open(file, "wb") as f:
            f.write(base64.b64decode(call("GET", session + "/screenshot")))
    call("DELETE", session)
finally:
    driver.kill()
