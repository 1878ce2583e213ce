"""Downloads from real servers, cut at random: by kill -9 of the device's program, and by a connection that breaks.

MOTE_CUTS sets how many cuts a run has: four of five kill the program, the others break connections.
"""
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.request

from fleet_case import MOTE, Case, wait_for

CUTS = int(os.environ.get("MOTE_CUTS", "5"))
DISCONNECTS = max(CUTS // 5, 1)
KILLS = CUTS - DISCONNECTS
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
        while cuts < KILLS:
            version += 1
            self.offer_large(f"{version}.0.0")
            start = time.monotonic()
            self.fleet("check")
            startup = time.monotonic() - start  # of a program that only looks: later cuts fall into the transfer
            config = self.path / "device/fleet.toml"
            config.write_text(config.read_text().split("[policy]")[0] + f"[policy]\nmax_bytes_per_second = {16 * MIB}\n")
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
        """Every request goes on where the last whole chunk ended: what a cut costs is less than a chunk."""
        proxy, version = CuttingProxy(self.port), 0
        self.init_device(f"http://127.0.0.1:{proxy.port}")
        while proxy.cuts < DISCONNECTS:
            version += 1
            proxy.most = None
            self.offer_large(f"{version}.0.0")
            self.fleet("check")
            proxy.most = 4 * MIB
            while self.status_or_cut() != "VERIFIED":
                pass
            proxy.most = None
            wait_for(self.server_rests)
            asked = [r for r in self.ranges() if r > 0]
            self.assertEqual(asked, sorted(asked))
            self.assertEqual({(r - asked[0]) % MIB for r in asked}, {0})
            self.status("install")
            self.fleet("rollback", "kws")
            (self.path / "access.log").write_text("")
        print(f"{proxy.cuts} disconnects, {version} packages of {CHUNKS} MiB, every request at a whole chunk")

    def status_or_cut(self):
        """State after a fetch; the cut may hit metadata too, and then it is asked again."""
        done = subprocess.run([MOTE, "fleet", "--dir", "device", "--json", "fetch"], cwd=self.path, capture_output=True, text=True)
        return json.loads(done.stdout)["models"][0]["state"] if done.returncode == 0 else None

    def test_a_server_without_ranges(self):
        """Everything comes from the start each time; what is on the medium passes by."""
        self.start_server("max_ranges 0;")
        proxy = CuttingProxy(self.port)
        self.init_device(f"http://127.0.0.1:{proxy.port}")
        self.offer_large("1.0.0", 4)
        self.fleet("check")
        proxy.most = 6 * MIB
        while self.status_or_cut() != "VERIFIED":
            pass
        self.assertEqual({line.split("|")[2] for line in (self.path / "access.log").read_text().splitlines()} - {"200"}, {"404"})

    def test_wrong_content_is_never_staged(self):
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


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
