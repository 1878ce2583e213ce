"""Downloads from real servers, cut at random: by kill -9 of the device's program, and by a connection that breaks.

MOTE_CUTS sets how many cuts a run has.
"""
import hashlib
import os
import random
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.request

from fleet_case import MOTE, Case, free_port, listening, wait_for

CUTS = int(os.environ.get("MOTE_CUTS", "30"))
MIB = 1 << 20
CHUNKS = 16


class CuttingProxy:
    """Passes bytes to a server and back; breaks connections after a random amount where `budget` says so."""

    def __init__(self, port):
        self.target, self.cuts, self.chance = port, 0, random.Random(7)
        self.most = None  # bytes of an answer; None: all
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        with client, socket.create_connection(("127.0.0.1", self.target)) as server:
            threading.Thread(target=self.pump, args=(client, server, None), daemon=True).start()
            self.pump(server, client, self.most and self.chance.randrange(self.most))

    def pump(self, source, sink, budget):
        try:
            while data := source.recv(65536):
                if budget is not None and len(data) > budget:
                    sink.sendall(data[:budget])
                    self.cuts += 1
                    sink.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
                    sink.shutdown(socket.SHUT_RDWR)
                    return
                sink.sendall(data)
                budget = budget and budget - len(data)
        except OSError:
            pass
        finally:
            for s in (source, sink):
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass


class Cuts(Case):
    def offer_large(self, version, chunks=CHUNKS):
        ballast = self.path / "ballast.bin"
        ballast.write_bytes(random.Random(version).randbytes(chunks * MIB))
        self.offer(version, extra=["ballast.bin"])

    def incoming(self):
        files = list((self.path / "device/models/kws/incoming").glob("*"))
        return files[0].stat().st_size if files else 0

    def server_rests(self):
        """All requests are over, and so in the log; this one is the only connection."""
        with urllib.request.urlopen(self.url + "/status") as reply:
            return reply.read().split()[2] == b"1"

    def ranges(self):
        """First bytes that were asked for of the package, in order."""
        out = []
        for line in (self.path / "access.log").read_text().splitlines():
            uri, wanted, _, _ = line.split("|")
            if uri.startswith("/targets/kws/"):
                out.append(int(wanted.removeprefix("bytes=").split("-")[0]) if wanted not in ("-", "") else 0)
        return out

    def test_kill_at_random_refetches_a_chunk_at_most(self):
        self.init_device()
        chance, cuts, version, worst = random.Random(5), 0, 0, 0
        while cuts < CUTS:
            version += 1
            self.offer_large(f"{version}.0.0")
            start = time.monotonic()
            self.fleet("check")
            startup = time.monotonic() - start  # of a program that only looks: later cuts fall into the transfer
            config = self.path / "device/fleet.toml"
            config.write_text(config.read_text().split("[policy]")[0] + f"[policy]\nmax_bytes_per_second = {60 * MIB}\n")
            while True:
                before, known = self.incoming(), len(self.ranges())
                process = subprocess.Popen([MOTE, "fleet", "--dir", "device", "fetch"], cwd=self.path, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                try:
                    process.wait(chance.uniform(0.03, 2 * startup + 0.2))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    cuts += 1
                code = process.wait()
                if code == 0:
                    break
                self.assertEqual(code, -signal.SIGKILL)
                # What is on the medium is not asked for again, but for the chunk that was being written.
                wait_for(self.server_rests)
                for first in [r for r in self.ranges()[known:] if r > 0]:
                    worst = max(worst, before - first)
                    self.assertLessEqual(before - first, MIB)
            self.assertEqual(self.status()["state"], "VERIFIED")
            self.status("install")
            self.fleet("rollback", "kws")
            (self.path / "access.log").write_text("")
        print(f"{cuts} kills, {version} packages of {CHUNKS} MiB, at most {worst} bytes of the medium fetched again")

    def test_disconnects_at_random(self):
        proxy = CuttingProxy(self.port)
        self.init_device(f"http://127.0.0.1:{proxy.port}")
        self.offer_large("1.0.0", 6)
        self.fleet("check")
        proxy.most = 4 * MIB
        for _ in range(60):
            if self.status("fetch")["state"] == "VERIFIED":
                break
        self.assertEqual(self.status()["state"], "VERIFIED")
        self.assertGreater(proxy.cuts, 0)
        asked = [r for r in self.ranges() if r > 0]
        self.assertEqual(asked, sorted(asked))
        print(f"{proxy.cuts} disconnects")

    def test_a_server_without_ranges_and_wrong_content(self):
        self.init_device()
        self.offer("1.0.0")
        package = next((self.path / "repo/targets/kws").iterdir())
        good = package.read_bytes()
        package.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        status = self.status("fetch")
        self.assertIn("not what was signed", status["note"])
        self.assertEqual(status["state"], "FETCHING")
        package.write_bytes(good)
        self.assertEqual(self.status("fetch")["state"], "VERIFIED")


class Registry(Case):
    """docker-registry serves what `mote repo push` sends."""
    SERVER = "docker-registry"

    def start_server(self):
        self.port = free_port()
        config = self.path / "registry.yml"
        config.write_text(f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {self.path}/registry}}}}\n"
                          f"http: {{addr: 127.0.0.1:{self.port}}}\n")
        self.start([self.program, "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: listening(self.port))
        self.url = f"oci+http://127.0.0.1:{self.port}/fleet/models"

    def test_install_from_a_registry(self):
        self.offer("1.0.0")
        self.mote("repo", "push", "repo", self.url)
        self.init_device()
        self.assertEqual(self.status("install")["state"], "TRIAL")
        self.offer("2.0.0")
        self.mote("repo", "push", "repo", self.url)
        self.app_says(self.start_app(), "1.0.0 trial")
        wait_for(lambda: self.status()["state"] == "CONFIRMED")
        self.assertEqual(self.status("install")["candidate"]["version"], "2.0.0")

    def test_layout(self):
        self.offer("1.0.0")
        self.mote("repo", "oci", "repo", "layout")
        layout = self.path / "layout"
        self.assertTrue((layout / "oci-layout").is_file() and (layout / "index.json").is_file())
        for blob in (layout / "blobs/sha256").iterdir():
            self.assertEqual(hashlib.sha256(blob.read_bytes()).hexdigest(), blob.name)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
