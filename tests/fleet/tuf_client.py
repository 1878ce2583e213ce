"""mote-tuf as tests drive it, against repositories that SERVER serves."""
import os
import pathlib
import subprocess
import tempfile

from tuf.api.metadata import Metadata

from tuf_repo import Server

SERVER = Server()
MOTE_TUF = os.environ["MOTE_TUF"]


class Client:
    def __init__(self, repo, root=None):
        self.url = SERVER.add(repo)
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.metadata, self.targets = (pathlib.Path(self.folder.name) / name for name in ("metadata", "targets"))
        first = pathlib.Path(self.folder.name) / "first.json"
        first.write_bytes(root or repo.files["metadata/1.root.json"])
        self.initialised = self.run("init", str(first), url=False)

    def run(self, *words, url=True):
        options = ["--metadata-dir", str(self.metadata)] + (["--metadata-url", self.url + "/metadata"] if url else [])
        done = subprocess.run([MOTE_TUF, *options, *words], capture_output=True, text=True, timeout=120)
        self.said = done.stderr
        assert done.returncode in (0, 1), f"exit code {done.returncode}: {done.stderr}"
        return done.returncode == 0

    def refresh(self):
        return self.run("refresh")

    def download(self, *names):
        named = [word for name in names for word in ("--target-name", name)]
        return self.run(*named, "--target-base-url", self.url + "/targets", "--target-dir", str(self.targets), "download")

    def version(self, role):
        path = self.metadata / f"{role}.json"
        return Metadata.from_file(str(path)).signed.version if path.exists() else None

    def downloaded(self):
        return sorted(p.read_bytes() for p in self.targets.iterdir()) if self.targets.exists() else []
