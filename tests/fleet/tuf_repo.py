"""A TUF repository made with python-tuf, held in memory and served over HTTP, for attacks on clients."""
import datetime
import http.server
import json
import threading
import urllib.parse

from securesystemslib.formats import encode_canonical
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Delegations, DelegatedRole, Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp
from tuf.api.serialization.json import JSONSerializer

TOP = ("root", "timestamp", "snapshot", "targets")
MAKERS = {"ed25519": CryptoSigner.generate_ed25519, "ecdsa": CryptoSigner.generate_ecdsa, "rsa": CryptoSigner.generate_rsa}
_made = {}


def day(days):
    return datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(days=days)


def key(name, kind="ed25519"):
    """The key of this name: made once, the same in every test."""
    return _made.setdefault((name, kind), MAKERS[kind]())


class Repository:
    """Roles are changed in place (repo.targets.version = 7); publish() signs them and what lists them; files holds what is served."""

    def __init__(self, consistent=True, hashes=False, kind="ed25519"):
        self.consistent, self.hashes, self.kind = consistent, hashes, kind
        self.files, self.requests, self.signers, self.roles = {}, [], {}, {}
        for role, make in zip(TOP, (Root, Timestamp, Snapshot, Targets)):
            self.roles[role] = Metadata(make(expires=day(30)))
        self.root.consistent_snapshot = consistent
        for role in TOP:
            self.add_key(role, key(role, kind))
        self.publish("root", "targets", bump=False)

    def __getattr__(self, role):
        if role.startswith("_") or role not in self.roles:
            raise AttributeError(role)
        return self.roles[role].signed

    def add_key(self, role, signer, delegator=None):
        (self.roles[delegator].signed if delegator else self.root).add_key(signer.public_key, role)
        self.signers.setdefault(role, []).append(signer)

    def rotate(self, role, signer):
        for old in self.signers[role]:
            self.root.revoke_key(old.public_key.keyid, role)
        self.signers[role] = []
        self.add_key(role, signer)

    def delegate(self, delegator, name, signer, paths=None, prefixes=None, terminating=False):
        parent = self.roles[delegator].signed
        if parent.delegations is None:
            parent.delegations = Delegations({}, {})
        parent.delegations.roles[name] = DelegatedRole(name, [], 1, terminating, None if prefixes else paths or ["*"], prefixes)
        self.roles.setdefault(name, Metadata(Targets(expires=day(30))))
        parent.add_key(signer.public_key, name)
        if signer not in self.signers.setdefault(name, []):
            self.signers[name].append(signer)

    def add_target(self, path, data, role="targets"):
        info = TargetFile.from_data(path, data, ["sha256", "sha512"])
        self.roles[role].signed.targets[path] = info
        folder, slash, name = path.rpartition("/")
        for digest in info.hashes.values():
            self.files[f"targets/{folder}{slash}{digest}.{name}"] = data
        self.files["targets/" + path] = data

    def sign(self, role, signers=None):
        metadata = self.roles[role]
        metadata.signatures.clear()
        for signer in self.signers[role] if signers is None else signers:
            metadata.sign(signer, append=True)
        return metadata.to_bytes(JSONSerializer())

    @staticmethod
    def resign(document, signers):
        """Bytes of a changed document, whatever it says now, with new signatures."""
        signed = encode_canonical(document["signed"]).encode()
        document["signatures"] = [signer.sign(signed).to_dict() for signer in signers]
        return json.dumps(document).encode()

    def put(self, role, data):
        """Serves bytes as the current version of a role."""
        name = urllib.parse.quote(role, "")
        if role == "root" or (self.consistent and role != "timestamp"):
            self.files[f"metadata/{self.roles[role].signed.version}.{name}.json"] = data
        if role != "root" and (role == "timestamp" or not self.consistent):
            self.files[f"metadata/{name}.json"] = data

    def listed(self, role, data):
        if not self.hashes:
            return MetaFile(self.roles[role].signed.version)
        return MetaFile.from_data(self.roles[role].signed.version, data, ["sha256"])

    def publish(self, *roles, bump=True):
        """New versions of these, and of snapshot and timestamp. Names among `roles` that list others come last."""
        for role in [r for r in roles if r not in ("snapshot", "timestamp")]:
            self.roles[role].signed.version += bump
            data = self.sign(role)
            self.put(role, data)
            if role != "root":
                self.snapshot.meta[f"{role}.json"] = self.listed(role, data)
        if set(roles) == {"root"}:
            return
        if set(roles) != {"timestamp"}:
            self.snapshot.version += bump
            data = self.sign("snapshot")
            self.put("snapshot", data)
            self.timestamp.snapshot_meta = self.listed("snapshot", data)
        self.timestamp.version += bump
        self.put("timestamp", self.sign("timestamp"))


class Server:
    """Serves repo.files; bodies that are callables write to the connection themselves."""

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                repo_name, _, path = self.path.lstrip("/").partition("/")
                repo = outer.repos[repo_name]
                repo.requests.append(path)
                body = repo.files.get(path)
                if body is None:
                    return self.send_error(404)
                self.send_response(200)
                if callable(body):
                    self.end_headers()
                    try:
                        return body(self.wfile)
                    except OSError:
                        return None
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.repos = {}
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def add(self, repo):
        name = f"r{len(self.repos)}"
        self.repos[name] = repo
        return f"http://127.0.0.1:{self.http.server_address[1]}/{name}"
