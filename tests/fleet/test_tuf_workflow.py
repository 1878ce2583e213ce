"""mote-tuf, step by step: signatures, thresholds, versions and what is on disk after each refusal. Cases of the public conformance suite
(theupdateframework/tuf-conformance) that test_tuf.py and test_tuf_attacks.py do not have."""
import json
import unittest

from tuf.api.metadata import Metadata, MetaFile

from tuf_client import Client
from tuf_repo import MAKERS, Repository, day, key

# keys of the role, threshold, keys that sign; one tuple per version of root. The last one is refused where the name says so.
ROOTS = {
    "one key follows another": [([1], 1, [1]), ([2], 1, [2, 1]), ([2], 1, [2])],
    "signatures nobody asked for": [([1], 1, [3, 1, 4]), ([2], 1, [3, 2, 1, 4]), ([2], 1, [3, 2, 4])],
    "any three of five": [([0, 1, 2, 3, 4], 3, [0, 2, 4]), ([0, 1, 2, 3, 4], 3, [0, 4, 1]), ([0, 1, 2, 3, 4], 3, [0, 1, 3])],
    "one of five changes": [([0, 1, 2, 3, 4], 3, [0, 2, 4]), ([0, 1, 3, 4, 5], 3, [0, 4, 1])],
    "one of five changes, with a step between": [([0, 1, 2, 3, 4], 3, [0, 2, 4]), ([0, 1, 3, 4, 5], 3, [0, 2, 4, 5]),
                                                 ([0, 1, 3, 4, 5], 3, [0, 4, 5])],
    "all five change": [([0, 1, 2, 3, 4], 3, [0, 2, 4]), ([5, 6, 7, 8, 9], 3, [0, 2, 4, 5, 6, 7]), ([5, 6, 7, 8, 9], 3, [5, 6, 7])],
    "threshold grows": [([1, 2, 3], 1, [1]), ([1, 2, 3], 2, [1, 2])],
    "threshold shrinks": [([1, 2, 3], 2, [1, 2]), ([1, 2, 3], 1, [1, 2]), ([1, 2, 3], 1, [1])],
    "a second key is needed": [([1], 1, [1]), ([1, 2], 2, [1, 2])],
    "refused: not by the old key": [([1], 1, [1]), ([2], 1, [2, 3, 4])],
    "refused: not by the new key": [([1], 1, [1]), ([2], 1, [1, 3, 4])],
    "refused: too few new ones": [([0, 1, 2, 3, 4], 3, [0, 2, 4]), ([0, 1, 3, 4, 5], 3, [0, 2, 4])],
    "refused: too few old ones": [([0, 1, 2, 3, 4], 3, [0, 2, 4]), ([0, 1, 3, 4, 5], 3, [0, 4, 5])],
    "refused: new threshold": [([1, 2, 3], 1, [1]), ([1, 2, 3], 2, [2])],
    "refused: old threshold": [([1, 2, 3], 2, [1, 2]), ([1, 2, 3], 1, [1])],
}
OTHERS = [  # the same for timestamp, snapshot and targets, and whether it is taken
    ([2], 1, [2], True), ([1], 1, [3, 1, 4], True), ([2], 1, [1, 3, 4], False), ([0, 1, 3, 4, 5], 3, [0, 2, 4], False),
    ([0, 1, 3, 4, 5], 3, [0, 4], False), ([0, 1, 2, 3, 4], 3, [0, 2, 4], True), ([0, 1, 2, 3, 4], 3, [2, 3, 4], True),
    ([0, 1, 2, 3, 4], 6, [0, 1, 2, 3, 4], False),
]


def numbered(numbers):
    return [key(f"number {n}") for n in numbers]


def set_keys(repo, role, keys, threshold, signers):
    repo.root.roles[role].keyids.clear()
    repo.signers[role] = []
    for signer in numbered(keys):
        repo.root.add_key(signer.public_key, role)
    repo.root.roles[role].threshold = threshold
    repo.signers[role] = numbered(signers)


class Workflow(unittest.TestCase):
    def trusted(self, client):
        return {p.stem: Metadata.from_file(str(p)).signed.version for p in client.metadata.glob("*.json")}

    def test_chains_of_roots(self):
        for name, versions in ROOTS.items():
            with self.subTest(name):
                repo = Repository()
                for i, version in enumerate(versions):
                    set_keys(repo, "root", *version)
                    repo.root.version = i + 1
                    repo.put("root", repo.sign("root"))
                client = Client(repo)
                good = not name.startswith("refused")
                self.assertEqual(client.refresh(), good, client.said)
                kept = len(versions) if good else len(versions) - 1
                self.assertEqual((client.metadata / "root.json").read_bytes(), repo.files[f"metadata/{kept}.root.json"])

    def test_keys_of_other_roles(self):
        for keys, threshold, signers, good in OTHERS:
            for role in ("timestamp", "snapshot", "targets"):
                with self.subTest(keys=keys, signers=signers, role=role):
                    repo = Repository()
                    client = Client(repo)
                    set_keys(repo, role, keys, threshold, signers)
                    repo.publish("root")
                    repo.publish("targets")
                    self.assertEqual(client.refresh(), good, client.said)
                    self.assertEqual(role in self.trusted(client), good)

    def test_a_refusal_keeps_what_came_before_it(self):
        kept = {"root": {"root": 1}, "timestamp": {"root": 2}, "snapshot": {"root": 2, "timestamp": 2},
                "targets": {"root": 2, "timestamp": 2, "snapshot": 2}}
        changes = {"not signed": {}, "another version": {"version": 3}, "another type": {"_type": "snapshot"}, "not there": None}
        for role, expected in kept.items():
            for what, change in changes.items():
                if (role, what) in (("timestamp", "another version"), ("snapshot", "another type"), ("root", "not there")):
                    continue
                with self.subTest(role=role, what=what):
                    repo = Repository()
                    client = Client(repo)
                    repo.publish("root")
                    repo.publish("targets")
                    name = "metadata/timestamp.json" if role == "timestamp" else f"metadata/2.{role}.json"
                    document = json.loads(repo.files.pop(name))
                    if change is not None:
                        document["signed"].update(change)
                        repo.files[name] = repo.resign(document, repo.signers[role] if change else [])
                    self.assertFalse(client.refresh())
                    self.assertEqual(self.trusted(client), expected)

    def test_signatures_that_do_not_count_do_no_harm(self):
        for kind in MAKERS:
            with self.subTest(kind=kind):
                repo = Repository()
                client = Client(repo)
                repo.add_key("timestamp", key("another", kind))
                repo.publish("root")
                for bad in ("00" * 64, "", "not hexadecimal"):
                    repo.publish("timestamp")
                    data = json.loads(repo.files["metadata/timestamp.json"])
                    data["signatures"][1]["sig"] = bad
                    repo.files["metadata/timestamp.json"] = json.dumps(data).encode()
                    self.assertTrue(client.refresh(), client.said)
                repo.root.roles["timestamp"].threshold = 2
                repo.publish("root")
                repo.publish("timestamp")
                self.assertTrue(client.refresh(), client.said)
                data = json.loads(repo.files["metadata/timestamp.json"])
                data["signatures"][1]["sig"] = data["signatures"][0]["sig"]
                repo.timestamp.version += 1
                repo.files["metadata/timestamp.json"] = json.dumps(data).encode()
                self.assertFalse(client.refresh())

    def test_the_same_key_or_signature_twice(self):
        for what in ("keyids", "signatures"):
            repo = Repository()
            client = Client(repo)
            repo.publish("root")
            repo.publish("targets")
            name = "metadata/2.root.json" if what == "keyids" else "metadata/2.snapshot.json"
            data = json.loads(repo.files[name])
            if what == "keyids":
                role = data["signed"]["roles"]["snapshot"]
                role.update(keyids=role["keyids"] * 6, threshold=6)
                repo.files[name] = repo.resign(data, repo.signers["root"])
            else:
                data["signatures"] *= 2
                repo.files[name] = json.dumps(data).encode()
            self.assertFalse(client.refresh())
            self.assertNotIn("snapshot", self.trusted(client))

    def test_the_same_version_again_is_not_taken(self):
        repo = Repository()
        client = Client(repo)
        self.assertTrue(client.refresh())
        before = (client.metadata / "timestamp.json").read_bytes()
        repo.timestamp.snapshot_meta = MetaFile(100)
        repo.put("timestamp", repo.sign("timestamp"))
        self.assertTrue(client.refresh(), client.said)
        self.assertEqual((client.metadata / "timestamp.json").read_bytes(), before)
        self.assertEqual(repo.requests[-1], "metadata/timestamp.json")
        repo.publish("targets", bump=False)  # targets of the same version: snapshot does not say that anything is new
        self.assertTrue(client.refresh(), client.said)

    def test_bytes_and_unknown_members_stay(self):
        repo = Repository()
        client = Client(repo)
        repo.files["metadata/timestamp.json"] += b" \n"
        self.assertTrue(client.refresh(), client.said)
        self.assertEqual((client.metadata / "timestamp.json").read_bytes(), repo.files["metadata/timestamp.json"])
        for name, member in (("keyid_hash_algorithms", ["md5"]), ("x", {"b": 2, "a": 1})):
            repo.root.keys[repo.root.roles["snapshot"].keyids[0]].unrecognized_fields[name] = member
            repo.root.roles["root"].unrecognized_fields[name] = member
            repo.publish("root")
            repo.publish("snapshot")
            self.assertTrue(client.refresh(), client.said)

    def test_delegated_roles_expire(self):
        repo = Repository()
        client = Client(repo)
        repo.delegate("targets", "A", key("A"))
        repo.add_target("t", b"of A", "A")
        repo.roles["A"].signed.expires = day(-1)
        repo.publish("A", "targets")
        self.assertTrue(client.refresh(), client.said)
        self.assertFalse(client.download("t"))
        self.assertNotIn("A", self.trusted(client))
        repo.roles["A"].signed.expires = day(3)
        repo.publish("A", "targets")
        self.assertTrue(client.download("t"), client.said)

    def test_paths_are_delegated_by_every_role_on_the_way(self):
        cases = {"file": "", "README.md": "A", "releases/x/x_v1": "BC", "releases/y/y_v1.zip": "BD", "releases/z/z_v1.zip": None}
        for path, way in cases.items():
            with self.subTest(path=path):
                repo = Repository()
                for parent, name, paths in (("targets", "A", ["*.doc", "*.md"]), ("targets", "B", ["releases/*/*"]),
                                            ("B", "C", ["releases/x/*"]), ("B", "D", ["releases/y/*.zip"])):
                    repo.delegate(parent, name, key(name), paths=paths)
                repo.add_target(path, path.encode(), way[-1:] or "targets" if way is not None else "D")
                repo.publish(*[r for r in repo.roles if r != "root"], bump=False)
                client = Client(repo)
                self.assertEqual(client.download(path), way is not None, client.said)
                asked = [r.split(".")[1] for r in repo.requests if r.startswith("metadata/")]
                self.assertEqual("".join(asked[4:]), "B" if way is None else way)

    def test_snapshots_of_old_and_new_kind(self):
        """A repository may begin and cease to have consistent snapshots, and targets without a digest in their names."""
        repo = Repository(consistent=False)
        repo.add_target("a/b", b"bytes")
        repo.delegate("targets", "A", key("A"))
        repo.add_target("c", b"of A", "A")
        repo.publish("A", "targets")
        client = Client(repo)
        self.assertTrue(client.download("a/b", "c"), client.said)
        self.assertNotIn("metadata/2.snapshot.json", repo.requests)
        repo.consistent = repo.root.consistent_snapshot = True
        repo.publish("root")
        repo.add_target("a/b", b"other bytes")
        repo.publish("A", "targets")
        self.assertTrue(client.download("a/b", "c"), client.said)
        self.assertIn("metadata/3.snapshot.json", repo.requests)
        self.assertEqual(client.downloaded(), [b"of A", b"other bytes"])


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
