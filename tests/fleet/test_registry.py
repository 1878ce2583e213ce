"""docker-registry serves what `mote repo push` sends: to everybody, to those with a password, and to those with a token of its realm."""
import base64
import datetime
import hashlib
import http.server
import json
import subprocess
import threading
import time
import unittest
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from fleet_case import Case, free_port, listening, wait_for

USER, PASSWORD = "mote", "s3cret:word"
BCRYPT = "$2y$05$abcdefghijklmnopqrstuu2JDQLR7mbHhdpill4/jMLDoVbsBhlUi"  # of the password
BASIC = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class Registry(Case):
    SERVER = "docker-registry"

    def login(self):
        """The registry's section `auth`."""
        return ""

    def start_server(self):
        self.port = free_port()
        config = self.path / "registry.yml"
        config.write_text(f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {self.path}/registry}}}}\n"
                          f"http: {{addr: 127.0.0.1:{self.port}}}\n{self.login()}")
        self.start([self.program, "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: listening(self.port))
        self.url = f"oci+http://127.0.0.1:{self.port}/fleet/models"

    def write_auth(self, path, basic=BASIC):
        file = self.path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"auths": {f"127.0.0.1:{self.port}": {"auth": basic}, "elsewhere": {}}}))
        return file

    def check_login(self):
        """Nothing goes without a login, or with a wrong one; no message has the secret."""
        self.offer("1.0.0")
        self.init_device()
        wrong = base64.b64encode(b"mote:wrong").decode()
        said = self.mote("repo", "push", "repo", self.url, code=1)
        self.assertRegex(said, "asks for a login|refuses the login|answers 401|answered with 401")
        said = self.mote("repo", "push", "repo", self.url, "--auth", self.write_auth("wrong.json", wrong), code=1)
        self.assertRegex(said, "refuses the login|answers 401")
        self.mote("repo", "push", "repo", self.url, "--auth", self.write_auth("auth.json"))
        said += self.fleet("check", code=1)
        self.write_auth("device/registry-auth.json", wrong)
        said += self.fleet("check", code=1)
        self.write_auth("device/registry-auth.json")
        self.assertEqual(self.status("install")["state"], "TRIAL")
        for secret in (PASSWORD, BASIC, wrong):
            self.assertNotIn(secret, said)


class Everybody(Registry):
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


class Password(Registry):
    def login(self):
        (self.path / "htpasswd").write_text(f"{USER}:{BCRYPT}\n")
        return f"auth: {{htpasswd: {{realm: fleet, path: {self.path}/htpasswd}}}}\n"

    def test_password(self):
        self.check_login()


class Realm:
    """Gives out tokens as a registry wants them: JWT, signed by a certificate it trusts."""

    def __init__(self):
        self.key = rsa.generate_private_key(65537, 2048)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "realm")])
        now = datetime.datetime.now(datetime.timezone.utc)
        self.certificate = x509.CertificateBuilder(name, name, self.key.public_key(), 1, now - datetime.timedelta(days=1),
                                                   now + datetime.timedelta(days=1)).sign(self.key, hashes.SHA256())
        realm = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.headers.get("Authorization") != "Basic " + BASIC:
                    return self.send_error(401)
                query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
                body = json.dumps({"token": realm.token(query["service"][0], query["scope"][0])}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/token"

    def token(self, service, scope):
        kind, name, actions = scope.split(":")
        der = self.certificate.public_bytes(serialization.Encoding.DER)
        head = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
        claims = {"iss": "realm", "sub": USER, "aud": service, "exp": int(time.time()) + 300, "nbf": int(time.time()) - 60,
                  "iat": int(time.time()), "jti": "1", "access": [{"type": kind, "name": name, "actions": actions.split(",")}]}
        encode = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
        text = ".".join(encode(json.dumps(part).encode()) for part in (head, claims))
        return text + "." + encode(self.key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))


class Token(Registry):
    def setUp(self):
        self.realm = Realm()
        super().setUp()

    def tearDown(self):
        super().tearDown()
        self.realm.http.shutdown()
        self.realm.http.server_close()

    def login(self):
        (self.path / "realm.pem").write_bytes(self.realm.certificate.public_bytes(serialization.Encoding.PEM))
        return (f"auth: {{token: {{realm: '{self.realm.url}', service: fleet registry, issuer: realm, "
                f"rootcertbundle: {self.path}/realm.pem}}}}\n")

    def test_token(self):
        self.check_login()


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
