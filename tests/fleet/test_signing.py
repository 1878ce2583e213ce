"""OpenSSF model-signing bundles (key mode): what PyPI's model-signing signs, Mote verifies, and the other way round."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

MOTE = os.environ["MOTE"]


class Signing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "model/sub").mkdir(parents=True)
        (self.path / "model/a.bin").write_bytes(b"a" * 3_000_000)
        (self.path / "model/sub/b.bin").write_bytes(b"")
        for name, curve in (("p256", ec.SECP256R1()), ("p384", ec.SECP384R1())):
            key = ec.generate_private_key(curve)
            (self.path / f"{name}.pem").write_bytes(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
            (self.path / f"{name}.pub").write_bytes(key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, command, ok=True):
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode == 0, ok, f"{command}: {done.stdout} {done.stderr}")
        return done.stdout + done.stderr

    def mote(self, *words, ok=True):
        return self.run_it([MOTE, "package", *words], ok)

    def peer(self, *words, ok=True):
        if not importlib.util.find_spec("model_signing") or not importlib.util.find_spec("OpenSSL"):
            self.skipTest("the PyPI packages model-signing and pyOpenSSL are not installed")
        return self.run_it([sys.executable, "-m", "model_signing", *words], ok)

    def test_both_ways(self):
        for key, what in (("p256", "model"), ("p384", "model/a.bin")):
            with self.subTest(key=key, what=what):
                self.mote("sign", what, "--key", f"{key}.pem", "--signature", "ours.sig")
                self.mote("verify", what, "--signature", "ours.sig", "--public-key", f"{key}.pub")
                self.peer("verify", "key", what, "--signature", "ours.sig", "--public_key", f"{key}.pub")
                self.peer("sign", "key", what, "--private_key", f"{key}.pem", "--signature", "theirs.sig")
                self.mote("verify", what, "--signature", "theirs.sig", "--public-key", f"{key}.pub")

    def test_a_signature_inside_the_folder(self):
        self.mote("sign", "model", "--key", "p256.pem", "--signature", "model/model.sig")
        self.mote("verify", "model", "--signature", "model/model.sig", "--public-key", "p256.pub")
        self.peer("verify", "key", "model", "--signature", "model/model.sig", "--public_key", "p256.pub")

    def test_links_and_special_files_are_refused(self):
        """model_signing refuses a folder with symbolic links; Mote signed and verified it as if they were not there."""
        self.mote("sign", "model", "--key", "p256.pem", "--signature", "ours.sig")
        verify = ("verify", "model", "--signature", "ours.sig", "--public-key", "p256.pub")
        for make in (lambda at: at.symlink_to(self.path / "p256.pem"), lambda at: at.symlink_to(self.path), os.mkfifo):
            at = self.path / "model/sub/more"
            make(at)
            self.assertRegex(self.mote(*verify, ok=False), "more is (a symbolic link|no plain file)")
            self.assertRegex(self.mote("sign", "model", "--key", "p256.pem", "--signature", "x.sig", ok=False), "plain files")
            at.unlink()
        self.mote(*verify)

    def test_changes_are_noticed(self):
        self.mote("sign", "model", "--key", "p256.pem", "--signature", "m.sig")
        verify = ("verify", "model", "--signature", "m.sig", "--public-key")
        self.assertIn("not of this key", self.mote(*verify, "p384.pub", ok=False))
        (self.path / "model/new").write_bytes(b"x")
        self.assertIn("new is there, but not signed", self.mote(*verify, "p256.pub", ok=False))
        (self.path / "model/new").unlink()
        (self.path / "model/a.bin").write_bytes(b"b")
        self.assertIn("a.bin is not what was signed", self.mote(*verify, "p256.pub", ok=False))
        (self.path / "model/a.bin").unlink()
        self.assertIn("a.bin is signed, but not there", self.mote(*verify, "p256.pub", ok=False))
        text = (self.path / "m.sig").read_text()
        (self.path / "m.sig").write_text(text.replace('"payload":"ey', '"payload":"eY'))
        self.assertIn("not of this key", self.mote(*verify, "p256.pub", ok=False))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
