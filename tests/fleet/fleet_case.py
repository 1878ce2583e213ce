"""Publisher, real server and device in one folder, for tests that drive them as people do."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

MOTE, MOTED, APP = os.environ["MOTE"], os.environ["MOTED"], os.environ["MOTE_DEVICE_APP"]
MODEL = os.environ["MOTE_MODEL"]

NGINX = """
daemon off; master_process off; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 64; }}
http {{
  log_format plain '$request_uri|$http_range|$status|$body_bytes_sent';
  access_log {dir}/access.log plain;
  client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3; uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
  server {{ listen 127.0.0.1:{port}; root {root}; location = /status {{ stub_status; access_log off; }} {extra} }}
}}
"""


def server_program(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, seconds=20.0, step=0.02):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(step)
    raise AssertionError("it did not come to that in time")


def listening(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
        return True
    return False


class Case(unittest.TestCase):
    SERVER = "nginx"

    def setUp(self):
        self.program = server_program(self.SERVER)
        if not self.program:
            self.skipTest(f"{self.SERVER} is not installed")
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = pathlib.Path(self.folder.name)
        self.processes = []
        self.mote("repo", "init", "repo", "--keys", "keys")
        self.start_server()

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        self.folder.cleanup()

    def start(self, command, **options):
        self.processes.append(subprocess.Popen([str(word) for word in command], cwd=self.path, **options))
        return self.processes[-1]

    def start_server(self, extra=""):
        self.port = free_port()
        config = self.path / "nginx.conf"
        config.write_text(NGINX.format(dir=self.path, port=self.port, root=self.path / "repo", extra=extra))
        self.start([self.program, "-c", config, "-e", self.path / "error.log"], stderr=subprocess.DEVNULL)
        wait_for(lambda: listening(self.port))
        self.url = f"http://127.0.0.1:{self.port}"

    def mote(self, *words, code=0):
        done = subprocess.run([MOTE, *map(str, words)], cwd=self.path, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout} {done.stderr}")
        return done.stdout + done.stderr

    def fleet(self, *words, code=0):
        return self.mote("fleet", "--dir", "device", *words, code=code)

    def status(self, command="status"):
        return json.loads(self.fleet(command, "--json"))["models"][0]

    def package(self, version, *options, extra=(), model=MODEL):
        name = f"kws-{version}.mpkg"
        self.mote("package", "create", name, model, "--id", "kws", "--model-version", version, *options,
                  *(["--extra", *extra] if extra else []))
        return name

    def offer(self, version, *options, percent=100, extra=(), model=MODEL):
        name = self.package(version, *options, extra=extra, model=model)
        self.mote("repo", "add", "repo", name, "--name", f"kws/{version}.mpkg")
        self.mote("repo", "sign", "repo", "--key", "keys/targets.pem")
        self.mote("repo", "publish", "repo", "--keys", "keys")
        self.mote("repo", "ring", "repo", "stable", f"kws/{version}.mpkg", "--percent", percent, "--keys", "keys")

    def init_device(self, url=None):
        url = url or self.url
        self.fleet("init", "--root", "repo/metadata/1.root.json", "--metadata-url", url + "/metadata", "--targets-url", url + "/targets",
                   "--device", "device-1", "--model", "kws=stable")

    def start_app(self, *options):
        app = self.start([APP, self.path / "device", "kws", *options], stdout=subprocess.PIPE, bufsize=0)
        os.set_blocking(app.stdout.fileno(), False)
        app.said = ""
        return app

    def app_says(self, app, text, seconds=20.0):
        def look():
            app.said += (app.stdout.read(65536) or b"").decode()
            return re.search(rf"^{re.escape(text)}$", app.said, re.M)
        start = time.monotonic()
        wait_for(look, seconds)
        app.said = ""
        return time.monotonic() - start
