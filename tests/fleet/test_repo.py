"""A repository that `mote repo` makes, read by python-tuf, by tuf-js (where node and the npm package are) and by mote-tuf.

MOTE_TUF_JS names a folder with node_modules/tuf-js; without it that part is skipped.
"""
import functools
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

from tuf.ngclient import Updater

MOTE, MOTE_TUF = os.environ["MOTE"], os.environ["MOTE_TUF"]

TUF_JS = """
const { Updater } = require('tuf-js');
const [metadata, targets, url, ...names] = process.argv.slice(1);
(async () => {
  const updater = new Updater({
    metadataDir: metadata, metadataBaseUrl: url + '/metadata', targetDir: targets, targetBaseUrl: url + '/targets' });
  await updater.refresh();
  for (const name of names) {
    const info = await updater.getTargetInfo(name);
    if (!info) throw new Error('not found: ' + name);
    await updater.downloadTarget(info);
  }
})().catch((e) => { console.error(e); process.exit(1); });
"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Published(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        handler = functools.partial(QuietHandler, directory=str(self.path / "repo"))
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.package = self.path / "kws.mpkg"
        self.package.write_bytes(bytes(range(256)) * 5000)
        self.mote("init", "repo", "--keys", "keys")
        self.root = (self.path / "repo/metadata/1.root.json").read_bytes()
        self.mote("add", "repo", "kws.mpkg", "--name", "kws/1.0.0.mpkg")
        self.mote("sign", "repo", "--key", "keys/targets.pem")
        self.mote("publish", "repo", "--keys", "keys")
        self.mote("ring", "repo", "stable", "kws/1.0.0.mpkg", "--percent", "10", "--keys", "keys")
        self.names = ["kws/1.0.0.mpkg", "rollout/stable.json"]

    def tearDown(self):
        self.http.shutdown()
        self.http.server_close()
        self.folder.cleanup()

    def mote(self, *words, ok=True):
        done = subprocess.run([MOTE, "repo", *words], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode == 0, ok, f"{words}: {done.stderr}")
        return done.stderr

    def folders(self, name):
        made = [self.path / name / part for part in ("metadata", "targets")]
        for folder in made:
            folder.mkdir(parents=True)
        return made

    def by_mote_tuf(self, name):
        metadata, targets = self.folders(name)
        first = self.path / "first.json"
        first.write_bytes(self.root)
        subprocess.run([MOTE_TUF, "--metadata-dir", metadata, "init", first], check=True)
        wanted = [word for n in self.names for word in ("--target-name", n)]
        subprocess.run([MOTE_TUF, "--metadata-dir", metadata, "--metadata-url", self.url + "/metadata", *wanted,
                        "--target-base-url", self.url + "/targets", "--target-dir", targets, "download"], check=True)
        return sorted(p.read_bytes() for p in targets.iterdir())

    def by_python_tuf(self, name):
        metadata, targets = self.folders(name)
        updater = Updater(str(metadata), self.url + "/metadata", str(targets), self.url + "/targets", bootstrap=self.root)
        for path in self.names:
            updater.download_target(updater.get_targetinfo(path))
        return sorted(p.read_bytes() for p in targets.iterdir())

    def by_tuf_js(self, name):
        metadata, targets = self.folders(name)
        (metadata / "root.json").write_bytes(self.root)
        environment = dict(os.environ, NODE_PATH=os.path.join(os.environ["MOTE_TUF_JS"], "node_modules"))
        subprocess.run(["node", "-e", TUF_JS, "--", metadata, targets, self.url, *self.names], check=True, env=environment)
        return sorted(p.read_bytes() for p in targets.iterdir() if p.is_file())

    def check_client(self, client):
        before = client("before")
        self.assertIn(self.package.read_bytes(), before)
        self.assertTrue(any(b'"halted":false' in data for data in before))
        self.mote("halt", "repo", "stable", "--keys", "keys")
        self.assertTrue(any(b'"halted":true' in data for data in client("after")))

    def rotate(self, role):
        """Gives a role another key; the old one of root vouches for the new."""
        self.mote("rotate", "repo", role, "--key", f"next/{role}.pem")
        for key in [f"next/{role}.pem"] * (role not in ("snapshot", "timestamp")) + ["keys/root.pem", "keys/targets.pem"]:
            if role != "root" or key != "keys/targets.pem":
                subprocess.run([MOTE, "repo", "sign", "repo", "--key", key], cwd=self.path, capture_output=True)
        (self.path / f"next/{role}.pem").replace(self.path / f"keys/{role}.pem")
        self.mote("publish", "repo", "--keys", "keys")

    def check_rotation(self, client):
        """Clients that trust the first root follow to the last, through a change of every role's keys."""
        (self.path / "next").mkdir()
        for role in ("root", "targets", "snapshot", "timestamp", "rollout"):
            self.rotate(role)
            self.assertIn(self.package.read_bytes(), client(f"rotated-{role}"))
        self.assertGreaterEqual(len(list((self.path / "repo/metadata").glob("*.root.json"))), 5)

    def test_rotation_mote_tuf(self):
        self.check_rotation(self.by_mote_tuf)

    def test_rotation_python_tuf(self):
        self.check_rotation(self.by_python_tuf)

    def test_rotation_tuf_js(self):
        if not os.environ.get("MOTE_TUF_JS") or not shutil.which("node"):
            self.skipTest("MOTE_TUF_JS is not set, or there is no node")
        self.check_rotation(self.by_tuf_js)

    def test_mote_tuf(self):
        self.check_client(self.by_mote_tuf)

    def test_python_tuf(self):
        self.check_client(self.by_python_tuf)

    def test_tuf_js(self):
        if not os.environ.get("MOTE_TUF_JS") or not shutil.which("node"):
            self.skipTest("MOTE_TUF_JS is not set, or there is no node")
        self.check_client(self.by_tuf_js)

    def test_sign_shows_what_it_signs_before_it_does(self):
        def draft():
            return json.loads((self.path / "repo/draft/targets.json").read_text())

        def sign(**options):
            return subprocess.run([MOTE, "repo", "sign", "repo", "--key", "keys/targets.pem"], cwd=self.path, text=True,
                                  stderr=subprocess.PIPE, **options)
        self.package.write_bytes(b"another package")
        self.mote("add", "repo", "kws.mpkg", "--name", "kws/2.0.0.mpkg")
        self.assertEqual(draft()["signatures"], [])
        with open("/dev/full", "w") as full:
            unseen = sign(stdout=full)
        self.assertNotEqual(unseen.returncode, 0)
        self.assertIn("nothing is signed unseen", unseen.stderr)
        self.assertEqual(draft()["signatures"], [])
        seen = sign(stdout=subprocess.PIPE)
        self.assertEqual(seen.returncode, 0, seen.stderr)
        self.assertEqual(len(draft()["signatures"]), 1)
        lines = seen.stdout.splitlines()
        self.assertEqual((lines[0], lines[-1]), ("signing the draft of targets:", "targets is signed"))
        digest = hashlib.sha256(b"another package").hexdigest()
        self.assertIn(f'  + targets/kws~12.0.0.mpkg/hashes/sha256 = "{digest}"', lines)
        self.assertFalse([line for line in lines if "1.0.0" in line], "what is public already is not new")

    def test_keys_are_private_and_needed(self):
        for key in (self.path / "keys").iterdir():
            self.assertEqual(key.stat().st_mode & 0o077, 0, key)
        self.mote("add", "repo", "kws.mpkg", "--name", "kws/2.0.0.mpkg")
        self.assertIn("signed by 0", self.mote("publish", "repo", "--keys", "keys", ok=False))
        self.assertIn("no draft waits", self.mote("sign", "repo", "--key", "keys/rollout.pem", ok=False))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
