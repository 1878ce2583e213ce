"""mote-tuf against repositories made by python-tuf: what it must accept."""
import datetime
import hashlib
import time
import unittest

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Delegations, Metadata, SuccinctRoles, Targets

from tuf_client import Client
from tuf_repo import Repository, day, key


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


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
