"""A repository that tuf-js's library (@tufjs/models) makes, read by mote-tuf. MOTE_TUF_JS: see test_repo.py."""
import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

MOTE_TUF = os.environ["MOTE_TUF"]

# Root, delegated role and target, each kind of key; consistent snapshots; versions and digests in what lists them.
MAKE = """
const fs = require('fs'), path = require('path'), crypto = require('crypto');
const { Root, Timestamp, Snapshot, Targets, Metadata, Key, MetaFile, TargetFile, Signature } = require('@tufjs/models');
const out = process.argv[1], common = { specVersion: '1.0.0', expires: '2099-01-01T00:00:00Z' };
const sha256 = (data) => crypto.createHash('sha256').update(data).digest('hex');
const kinds = {
  ed25519: () => crypto.generateKeyPairSync('ed25519'),
  ecdsa: () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  rsa: () => crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
const schemes = { ed25519: 'ed25519', ecdsa: 'ecdsa-sha2-nistp256', rsa: 'rsassa-pss-sha256' };
function makeKey(kind) {
  const { publicKey, privateKey } = kinds[kind]();
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const text = kind === 'ed25519' ? publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex') : pem;
  const key = new Key({ keyID: sha256(pem), keyType: kind, scheme: schemes[kind], keyVal: { public: text } });
  const sign = (data) => {
    const options = kind === 'rsa'
      ? { key: privateKey, padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: crypto.constants.RSA_PSS_SALTLEN_DIGEST }
      : privateKey;
    return new Signature({ keyID: key.keyID, sig: crypto.sign(kind === 'ed25519' ? null : 'sha256', data, options).toString('hex') });
  };
  return { key, sign };
}
function write(name, data) {
  fs.mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
  fs.writeFileSync(path.join(out, name), data);
}
function publish(name, signed, signers) {
  const metadata = new Metadata(signed);
  for (const signer of signers) metadata.sign(signer.sign, true);
  const data = JSON.stringify(metadata.toJSON());
  write('metadata/' + name, data);
  return new MetaFile({ version: signed.version, length: Buffer.byteLength(data), hashes: { sha256: sha256(data) } });
}
const keys = { root: [makeKey('ed25519'), makeKey('rsa')], timestamp: [makeKey('ed25519')], snapshot: [makeKey('ecdsa')],
               targets: [makeKey('rsa')] };
const root = new Root({ version: 1, ...common, consistentSnapshot: true });
for (const role in keys) for (const k of keys[role]) root.addKey(k.key, role);
publish('1.root.json', root, keys.root);
const data = Buffer.from('bytes of a target'), name = 'folder/file.bin';
write('targets/folder/' + sha256(data) + '.file.bin', data);
const targets = new Targets({ version: 1, ...common });
targets.addTarget(new TargetFile({ path: name, length: data.length, hashes: { sha256: sha256(data) } }));
const meta = { 'targets.json': publish('1.targets.json', targets, keys.targets) };
const snapshotMeta = publish('1.snapshot.json', new Snapshot({ version: 1, ...common, meta }), keys.snapshot);
publish('timestamp.json', new Timestamp({ version: 1, ...common, snapshotMeta }), keys.timestamp);
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class TufJs(unittest.TestCase):
    def test_its_repository_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, NODE_PATH=os.path.join(os.environ["MOTE_TUF_JS"], "node_modules"))
            subprocess.run(["node", "-e", MAKE, "--", folder], check=True, env=environment)
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url, device = f"http://127.0.0.1:{server.server_address[1]}", pathlib.Path(folder) / "device"
            client = [MOTE_TUF, "--metadata-dir", device / "metadata"]
            subprocess.run([*client, "init", os.path.join(folder, "metadata/1.root.json")], check=True)
            subprocess.run([*client, "--metadata-url", url + "/metadata", "--target-name", "folder/file.bin", "--target-base-url",
                            url + "/targets", "--target-dir", device / "targets", "download"], check=True)
            self.assertEqual([p.read_bytes() for p in (device / "targets").iterdir()], [b"bytes of a target"])
            server.shutdown()
            server.server_close()


if __name__ == "__main__":
    if not os.environ.get("MOTE_TUF_JS") or not shutil.which("node"):
        print("skipped: MOTE_TUF_JS is not set, or there is no node")
        sys.exit(77)
    unittest.main(verbosity=2, warnings="ignore")
