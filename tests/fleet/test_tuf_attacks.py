"""mote-tuf against repositories made by python-tuf: one test per attack of the specification's list, and more."""
import json
import time
import unittest

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata
from tuf.api.serialization.json import JSONSerializer

from tuf_client import Client
from tuf_repo import Repository, day, key


class Refuses(unittest.TestCase):
    """Each attack leaves what was trusted before."""

    def attacked(self, client, why, roles=("timestamp", "snapshot", "targets")):
        before = {role: (client.metadata / f"{role}.json").read_bytes() for role in roles if client.version(role)}
        self.assertFalse(client.refresh())
        self.assertRegex(client.said, why)
        for role, data in before.items():
            self.assertEqual((client.metadata / f"{role}.json").read_bytes(), data, role)

    def started(self, **options):
        repo = Repository(**options)
        repo.publish("targets")
        client = Client(repo)
        self.assertTrue(client.refresh(), client.said)
        return repo, client

    def test_arbitrary_software_installation(self):
        repo, client = self.started()
        repo.add_target("a", b"good")
        repo.publish("targets")
        for name in list(repo.files):
            if name.startswith("targets/"):
                repo.files[name] = b"evil"
        self.assertFalse(client.download("a"))
        self.assertEqual(client.downloaded(), [])
        repo.signers["targets"] = [CryptoSigner.generate_ed25519()]
        repo.publish("targets")
        self.attacked(client, "signed by 0", ("targets",))

    def test_endless_data(self):
        repo, client = self.started()
        repo.add_target("a", b"good")
        repo.publish("targets")

        def endless(out):
            while True:
                out.write(b" " * 65536)

        for role in ("timestamp.json", "3.snapshot.json", "3.targets.json", "2.root.json"):
            kept = repo.files.get("metadata/" + role)
            repo.files["metadata/" + role] = endless
            start = time.monotonic()
            self.assertFalse(client.refresh(), role)
            self.assertLess(time.monotonic() - start, 60)
            repo.files["metadata/" + role] = kept
        for name in list(repo.files):
            if name.startswith("targets/"):
                repo.files[name] = endless
        self.assertFalse(client.download("a"))
        self.assertEqual(client.downloaded(), [])

    def test_extraneous_dependencies(self):
        """A role is not asked for targets outside the paths that were delegated to it."""
        repo, client = self.started()
        repo.delegate("targets", "docs", key("docs"), paths=["docs/*"])
        repo.add_target("lib.so", b"evil", "docs")
        repo.publish("docs", "targets")
        self.assertFalse(client.download("lib.so"))

    def test_fast_forward(self):
        """Nobody without the keys can raise versions; 2^63 does not overflow anything."""
        repo, client = self.started()
        repo.timestamp.version = 2**62
        repo.put("timestamp", repo.sign("timestamp", [CryptoSigner.generate_ed25519()]))
        self.attacked(client, "signed by 0")
        text = repo.sign("timestamp").replace(b"%d" % 2**62, b"9" * 30)
        repo.put("timestamp", text)
        self.attacked(client, "64 bits")

    def test_indefinite_freeze(self):
        for role in ("timestamp", "snapshot", "targets"):
            with self.subTest(role=role):
                repo, client = self.started()
                repo.roles[role].signed.expires = day(-1)
                repo.publish("targets")
                self.attacked(client, "expired at", (role,))
        repo, client = self.started()
        repo.root.expires = day(-1)
        repo.publish("root")
        repo.publish("targets")
        self.attacked(client, "root expired at")
        self.assertEqual(client.version("root"), 2)  # kept, so that the next one can follow

    def test_malicious_mirror_prevents_nothing_silently(self):
        repo, client = self.started()
        for name in ("metadata/timestamp.json", "metadata/3.snapshot.json", "metadata/3.targets.json"):
            if name != "metadata/timestamp.json":
                repo.publish("targets", bump=name == "metadata/3.snapshot.json")
            kept = repo.files.pop(name)
            self.attacked(client, "answers 404", ("targets",))
            repo.files[name] = kept
        self.assertTrue(client.refresh(), client.said)

    def test_mix_and_match(self):
        """Targets of another release than snapshot names, and a snapshot of another than timestamp names."""
        for hashes in (True, False):
            repo, client = self.started(hashes=hashes)
            old = repo.files["metadata/2.targets.json"]
            repo.publish("targets")
            repo.files["metadata/3.targets.json"] = old
            self.attacked(client, "sha256 is not|bytes, .* expected|version 2 is not the 3", ("targets",))
            repo, client = self.started(hashes=hashes)
            old = repo.files["metadata/2.snapshot.json"]
            repo.publish("targets")
            repo.files["metadata/3.snapshot.json"] = old
            self.attacked(client, "sha256 is not|bytes, .* expected|version 2 is not the 3", ("snapshot", "targets"))
        repo, client = self.started(hashes=True)
        repo.publish("targets")
        repo.targets.expires = day(40)  # same version, well signed, other bytes
        repo.put("targets", repo.sign("targets"))
        self.attacked(client, "sha256 is not", ("targets",))

    def test_rollback(self):
        for hashes in (True, False):
            for role in ("timestamp", "snapshot", "targets"):
                with self.subTest(role=role, hashes=hashes):
                    repo, client = self.started(hashes=hashes)
                    repo.publish("targets")
                    self.assertTrue(client.refresh(), client.said)
                    repo.roles[role].signed.version = 1 if role == "timestamp" else 0
                    repo.publish(role, bump=role != "timestamp")
                    self.attacked(client, "is older than|takes .* back", (role, "targets"))

    def test_rollback_by_leaving_a_role_out_of_snapshot(self):
        repo, client = self.started()
        repo.delegate("targets", "A", key("A"))
        repo.publish("A", "targets")
        self.assertTrue(client.refresh(), client.said)
        del repo.snapshot.meta["A.json"]
        repo.publish("snapshot")
        self.attacked(client, "no longer lists A", ("snapshot", "targets"))

    def test_root_rollback_and_gap(self):
        for version in (1, 3):
            repo, client = self.started()
            repo.root.version = version
            repo.files["metadata/2.root.json"] = repo.sign("root")
            self.attacked(client, "cannot follow 1")
            self.assertEqual(client.version("root"), 1)

    def test_slow_retrieval(self):
        repo, client = self.started()

        def drip(out):
            for _ in range(600):
                out.write(b" ")
                out.flush()
                time.sleep(0.1)

        repo.files["metadata/timestamp.json"] = drip
        start = time.monotonic()
        self.attacked(client, "too slow")
        self.assertLess(time.monotonic() - start, 55)  # the drip would take 60 s

    def test_key_compromise_below_the_threshold(self):
        repo = Repository()
        repo.add_key("targets", key("second"))
        repo.root.roles["targets"].threshold = 2
        repo.publish("root")
        repo.publish("targets")
        client = Client(repo)
        self.assertTrue(client.refresh(), client.said)
        repo.signers["targets"] = [key("second")]
        repo.publish("targets")
        self.attacked(client, "signed by 1 of its keys, 2 needed", ("targets",))

    def test_one_key_under_many_ids_counts_once(self):
        repo, client = self.started()
        signer = key("targets")
        root = json.loads(repo.sign("root"))
        known = root["signed"]["keys"][signer.public_key.keyid]
        root["signed"]["keys"]["another"] = dict(known, x=1)
        root["signed"]["roles"]["targets"].update(keyids=[signer.public_key.keyid, "another"], threshold=2)
        root["signed"]["version"] = 2
        changed = Metadata.from_dict(root)
        changed.sign(key("root"))
        repo.files["metadata/2.root.json"] = changed.to_bytes(JSONSerializer())
        repo.publish("targets")
        data = json.loads(repo.files["metadata/3.targets.json"])
        data["signatures"].append(dict(data["signatures"][0], keyid="another"))
        repo.files["metadata/3.targets.json"] = json.dumps(data).encode()
        self.attacked(client, "signed by 1 of its keys, 2 needed", ("targets",))

    def test_new_root_needs_old_keys_and_its_own(self):
        for signers in ("old", "new", "neither"):
            repo, client = self.started()
            old, new = repo.signers["root"], [CryptoSigner.generate_ed25519()]
            repo.rotate("root", new[0])
            repo.root.version = 2
            repo.put("root", repo.sign("root", {"old": old, "new": new, "neither": [key("other")]}[signers]))
            self.attacked(client, "signed by 0")
            self.assertEqual(client.version("root"), 1)

    def test_wrong_software_installation(self):
        """A file that was signed for another path is not installed under this one."""
        repo, client = self.started()
        repo.add_target("a", b"file a")
        repo.add_target("b", b"file b")
        repo.publish("targets")
        for name in list(repo.files):
            if name.endswith(".b") or name == "targets/b":
                repo.files[name] = b"file a"
        self.assertFalse(client.download("a", "b"))
        self.assertEqual(client.downloaded(), [b"file a"])

    def test_cached_role_is_verified_against_its_current_delegator(self):
        """C is signed by the key that A names; B names another. What came through A is not trusted through B."""
        repo, client = self.started()
        repo.delegate("targets", "A", key("A"), paths=["a/*"])
        repo.delegate("targets", "B", key("B"), paths=["b/*"])
        repo.delegate("A", "C", key("C"), paths=["a/*"])
        repo.delegate("B", "C", key("not C"), paths=["b/*"])
        repo.signers["C"] = [key("C")]
        repo.add_target("a/t", b"of a", "C")
        repo.add_target("b/t", b"of b", "C")
        repo.publish("A", "B", "C", "targets")
        self.assertTrue(client.download("a/t"), client.said)
        self.assertFalse(client.download("a/t", "b/t"))  # in memory
        self.assertFalse(client.download("b/t"))  # on disk
        self.assertEqual(client.downloaded(), [b"of a"])

    def test_first_root_must_be_signed_and_whole(self):
        repo = Repository()
        for change in ("version", "signature", "text"):
            root = json.loads(repo.files["metadata/1.root.json"])
            if change == "version":
                del root["signed"]["version"]
            if change == "signature":
                root["signatures"][0]["sig"] = "00" * 64
            client = Client(repo, b"{" if change == "text" else json.dumps(root).encode())
            self.assertFalse(client.initialised)
            self.assertFalse(client.refresh())
        self.assertEqual(repo.requests, [])


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
