"""mote-tuf against repositories made by python-tuf: what it must accept, and one test per attack of the specification."""
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Delegations, Metadata, SuccinctRoles, Targets
from tuf.api.serialization.json import JSONSerializer

from tuf_repo import Repository, Server, day, key

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


class Accepts(unittest.TestCase):
    def test_all_schemes_hashes_and_snapshots(self):
        for kind in ("ed25519", "ecdsa", "rsa"):
            for consistent in (True, False):
                for hashes in (True, False):
                    with self.subTest(kind=kind, consistent=consistent, hashes=hashes):
                        repo = Repository(consistent, hashes, kind)
                        repo.add_target("folder/a file.bin", b"bytes")
                        repo.files.update({k.replace(" ", "%20"): v for k, v in repo.files.items()})
                        repo.publish("targets")
                        client = Client(repo)
                        self.assertTrue(client.download("folder/a file.bin"), client.said)
                        self.assertEqual(client.downloaded(), [b"bytes"])

    def test_requests_in_order_and_files_as_they_came(self):
        repo = Repository()
        client = Client(repo)
        self.assertEqual(repo.requests, [])
        self.assertTrue(client.refresh(), client.said)
        self.assertEqual(repo.requests, [f"metadata/{name}.json" for name in ("2.root", "timestamp", "1.snapshot", "1.targets")])
        for role in ("root", "snapshot", "targets"):
            self.assertEqual((client.metadata / f"{role}.json").read_bytes(), repo.files[f"metadata/1.{role}.json"])
        repo.requests.clear()
        self.assertTrue(client.refresh())  # nothing new: the local files serve
        self.assertEqual(repo.requests, ["metadata/2.root.json", "metadata/timestamp.json"])

    def test_artifact_already_there_is_not_fetched_again(self):
        repo = Repository()
        repo.add_target("a", b"one")
        repo.publish("targets")
        client = Client(repo)
        self.assertTrue(client.download("a") and client.download("a"))
        self.assertEqual(sum(r.startswith("targets/") for r in repo.requests), 1)
        repo.add_target("a", b"two")
        repo.publish("targets")
        self.assertTrue(client.download("a"))
        self.assertEqual(client.downloaded(), [b"two"])

    def test_unknown_members_are_part_of_what_is_signed(self):
        repo = Repository()
        repo.root.unrecognized_fields["x"] = {"b": [1, None, True, "\u00e9\n\"\\"], "a": -5}
        repo.publish("root")
        client = Client(repo)
        self.assertTrue(client.refresh(), client.said)
        self.assertEqual(client.version("root"), 2)

    def test_root_rotates_by_chain(self):
        repo = Repository()
        client = Client(repo)
        for i in range(3):
            new = CryptoSigner.generate_ecdsa()
            old = repo.signers["root"]
            repo.rotate("root", new)
            repo.root.version += 1
            repo.put("root", repo.sign("root", old + [new]))
        self.assertTrue(client.refresh(), client.said)
        self.assertEqual(client.version("root"), 4)

    def test_fast_forward_is_recovered_from_by_new_keys(self):
        repo = Repository()
        repo.snapshot.version = repo.timestamp.version = 9000
        repo.publish("targets")
        client = Client(repo)
        self.assertTrue(client.refresh(), client.said)
        repo.rotate("snapshot", CryptoSigner.generate_ed25519())
        repo.rotate("timestamp", CryptoSigner.generate_ed25519())
        repo.snapshot.version = repo.timestamp.version = 1
        repo.publish("root")
        repo.publish("targets")
        self.assertTrue(client.refresh(), client.said)
        self.assertEqual((client.version("snapshot"), client.version("timestamp")), (2, 2))

    def test_order_of_delegations(self):
        cases = [  # (delegations as (from, to, terminating, paths)), roles asked for
            ([("targets", "A"), ("targets", "B"), ("A", "C"), ("A", "D")], "ACDB"),
            ([("targets", "A"), ("targets", "B"), ("A", "C", True), ("A", "D")], "AC"),
            ([("targets", "A", True), ("targets", "B"), ("A", "C")], "AC"),
            ([("targets", "A", False, ["*.py"]), ("targets", "B"), ("B", "A")], "BA"),
            ([("targets", "A"), ("targets", "B"), ("B", "C"), ("C", "B")], "ABC"),
            ([("targets", "A", False, ["*"]), ("targets", "B", False, ["x/*"]), ("B", "C", False, ["x/[!a]?"])], "BC"),
        ]
        for delegations, visited in cases:
            with self.subTest(delegations=delegations):
                repo = Repository()
                for parent, name, *more in delegations:
                    paths = more[1] if len(more) > 1 else ["*", "x/*"]
                    repo.delegate(parent, name, key(name), terminating=bool(more and more[0]), paths=paths)
                repo.publish(*[r for r in repo.roles if r != "root"], bump=False)
                client = Client(repo)
                self.assertFalse(client.download("x/yz"))
                asked = [r.split(".")[1] for r in repo.requests]
                self.assertEqual("".join(asked[4:]), visited)

    def test_hash_prefixes_and_succinct_roles(self):
        repo = Repository()
        for digit in "0123456789abcdef":
            repo.delegate("targets", "bin-" + digit, key("bins"), prefixes=[digit])
        for i in range(8):
            digit = hashlib.sha256(f"t{i}".encode()).hexdigest()[0]
            repo.add_target(f"t{i}", b"%d" % i, "bin-" + digit)
        repo.publish(*[r for r in repo.roles if r != "root"], bump=False)
        client = Client(repo)
        self.assertTrue(client.download(*[f"t{i}" for i in range(8)]), client.said)
        self.assertEqual(client.downloaded(), [b"%d" % i for i in range(8)])
        repo = Repository()
        bins = SuccinctRoles([], 1, 5, "bin")
        repo.targets.delegations = Delegations({}, None, bins)
        repo.targets.add_key(key("bins").public_key)
        for name in bins.get_roles():
            repo.roles[name], repo.signers[name] = Metadata(Targets(expires=day(9))), [key("bins")]
        for i in range(8):
            repo.add_target(f"t{i}", b"%d" % i, bins.get_role_for_target(f"t{i}"))
        repo.publish(*[r for r in repo.roles if r != "root"], bump=False)
        client = Client(repo)
        self.assertTrue(client.download(*[f"t{i}" for i in range(8)]), client.said)

    def test_strange_role_names_stay_in_their_folder(self):
        for name in ("?", "#", "/role", "../role", "role\u00e9 %41"):
            with self.subTest(name=name):
                repo = Repository()
                repo.delegate("targets", name, key("strange"))
                repo.add_target("t", b"strange", name)
                repo.publish(name, "targets")
                client = Client(repo)
                self.assertTrue(client.download("t"), client.said)
                self.assertEqual(len(list(client.metadata.glob("*.json"))), 5)

    def test_expired_local_metadata_do_not_stop_an_update(self):
        repo = Repository()
        repo.timestamp.expires = repo.snapshot.expires = day(0) + datetime.timedelta(seconds=2)
        repo.publish("targets")
        client = Client(repo)
        self.assertTrue(client.refresh(), client.said)
        time.sleep(2.1)
        self.assertFalse(client.refresh())
        repo.timestamp.expires = repo.snapshot.expires = day(3)
        repo.publish("targets")
        self.assertTrue(client.refresh(), client.said)


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
            self.assertLess(time.monotonic() - start, 20)
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
        self.assertLess(time.monotonic() - start, 45)

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
