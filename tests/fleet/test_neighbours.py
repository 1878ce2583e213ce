"""What neighbours of the agent try: a registry's storage, the application's user, and any other user of the machine.

The agent is root, the application has a user of its own in a group, the hostile one is neither. Root of a user namespace with enough users
does as well (`unshare --map-auto`); without either, these tests are skipped by name.
"""
import http.server
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

MOTE, MOTED, APP = os.environ["MOTE"], os.environ["MOTED"], os.environ["MOTE_DEVICE_APP"]
MODEL, FLEET_TEST = os.environ["MOTE_MODEL"], os.environ["MOTE_FLEET_TEST"]
APP_USER, APP_GROUP, HOSTILE = 1, 1, 2  # of every Debian: daemon and its group, bin


class Server:
    """Answers with what `reply` gives for a path; remembers what was asked, with which login."""

    def __init__(self, reply):
        self.asked = asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.path, self.headers.get("Authorization")))
                status, headers, body = reply(self)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.origin = f"127.0.0.1:{self.http.server_address[1]}"

    def close(self):
        self.http.shutdown()
        self.http.server_close()


class Neighbours(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = pathlib.Path(self.folder.name)
        self.path.chmod(0o755)
        self.device = self.path / "device"
        self.model = self.device / "models/kws"
        self.processes = []
        self.run_it([MOTE, "repo", "init", "repo", "--keys", "keys"])
        # Programs where every user can start them.
        for name, program in (("app", APP), ("mote", MOTE)):
            shutil.copy(program, self.path / name)
        library = pathlib.Path(APP).parent.parent / "libmote.so"
        self.environment = dict(os.environ, LD_LIBRARY_PATH=str(library.parent))

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.folder.cleanup()

    def run_it(self, command, code=0, **options):
        done = subprocess.run([str(word) for word in command], cwd=self.path, capture_output=True, text=True, timeout=120, **options)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{command}: {done.stdout} {done.stderr}")
        return done.stdout + done.stderr

    def fleet(self, *words, code=0):
        return self.run_it([MOTE, "fleet", "--dir", "device", *words], code)

    def status(self):
        return json.loads(self.fleet("status", "--json"))["models"][0]

    def init_device(self, url="http://127.0.0.1:1", group=True):
        os.umask(0o022)
        words = ["init", "--root", "repo/metadata/1.root.json", "--metadata-url", url + "/metadata", "--targets-url", url + "/targets",
                 "--device", "d", "--model", "kws=stable"]
        self.fleet(*words, *(["--app-group", "daemon"] if group else []))

    def package(self, version, *options):
        self.run_it([MOTE, "package", "create", f"kws-{version}.mpkg", MODEL, "--id", "kws", "--model-version", version, *options])
        return f"kws-{version}.mpkg"

    def serve_repository(self):
        def reply(handler):
            file = self.path / "repo" / handler.path.lstrip("/")
            return (200, {}, file.read_bytes()) if file.is_file() else (404, {}, b"")
        server = Server(reply)
        self.addCleanup(server.close)
        return "http://" + server.origin

    def offer(self, version, *options):
        name = self.package(version, *options)
        self.run_it([MOTE, "repo", "add", "repo", name, "--name", f"kws/{version}.mpkg"])
        self.run_it([MOTE, "repo", "sign", "repo", "--key", "keys/targets.pem"])
        self.run_it([MOTE, "repo", "publish", "repo", "--keys", "keys"])
        self.run_it([MOTE, "repo", "ring", "repo", "stable", f"kws/{version}.mpkg", "--keys", "keys"])

    def begin_trial(self):
        """Known-good 1.0.0, and 2.0.0 in trial, which waits for a confirmation."""
        self.init_device(self.serve_repository())
        self.fleet("provision", self.package("1.0.0"))
        self.offer("2.0.0", "--gate-confirmation")
        self.fleet("install")
        self.assertEqual(self.status()["state"], "TRIAL")

    def trial_name(self):
        """The file in `app/` that the model in trial has."""
        return f"trial-{self.status()['candidate']['sha256']}.json"

    def acting_as(self, user, groups, work):
        """What `work` returns, or "ErrorName: ..." of what it raises, as that user. (Others may not start this interpreter.)"""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups(groups)
                os.setresgid(*[groups[0]] * 3)
                os.setresuid(*[user] * 3)
                os.umask(0)
                said = work()
            except Exception as e:
                said = f"{type(e).__name__}: {e}"
            os.write(writing, json.dumps(said).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            said = json.loads(answer.read())
        os.waitpid(child, 0)
        return said

    def as_user(self, user, groups=()):
        return {"user": user, "group": user if not groups else groups[0], "extra_groups": list(groups), "env": self.environment}

    def open_as(self, user, groups, *options, seconds=3.0):
        """What the application prints first as that user."""
        process = subprocess.Popen([str(self.path / "app"), str(self.device), "kws", *options], cwd="/", stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, **self.as_user(user, groups))
        self.processes.append(process)
        line = process.stdout.readline().decode().strip()
        time.sleep(seconds)
        process.kill()
        process.wait()
        process.stdout.close()
        return line

    # 13
    def test_a_registrys_storage_gets_no_password(self):
        challenge = {"WWW-Authenticate": 'Basic realm="x"'}
        storage = Server(lambda _: (401, challenge, b""))
        self.addCleanup(storage.close)

        def reply(handler):
            if handler.headers.get("Authorization") == "Basic bW90ZTpzZWNyZXQ=":
                return 200, {}, b"{}"
            return 307, {"Location": f"http://{storage.origin}/blob"}, b""
        registry = Server(reply)
        self.addCleanup(registry.close)
        self.init_device(f"oci+http://{registry.origin}/models", group=False)
        auth = self.device / "registry-auth.json"
        auth.write_text(json.dumps({"auths": {registry.origin: {"auth": "bW90ZTpzZWNyZXQ="}}}))
        said = self.fleet("check", code=1)
        self.assertIn("only the registry itself gets one", said)
        self.assertTrue(storage.asked)
        self.assertEqual({login for _, login in storage.asked + registry.asked}, {None})

    # 14
    def test_nobody_else_can_hold_the_locks(self):
        self.begin_trial()
        for name in ("agent.lock", "models/kws/lock"):
            for how in (os.O_RDONLY, os.O_RDWR):
                self.assertIn("PermissionError", self.acting_as(HOSTILE, [HOSTILE], lambda: os.open(self.device / name, how)))

    def test_who_holds_a_lock_holds_nobody_up_for_ever(self):
        self.begin_trial()
        holder = ("import fcntl, struct, time; f = open(%r, 'r+'); "
                  "fcntl.fcntl(f, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)); print('held', flush=True); time.sleep(100)")
        process = subprocess.Popen([sys.executable, "-c", holder % str(self.model / "lock")], stdout=subprocess.PIPE)
        self.processes.append(process)
        self.assertEqual(process.stdout.readline(), b"held\n")
        process.stdout.close()
        start = time.monotonic()
        self.assertIn("another process has held it", self.fleet("rollback", code=1))
        self.assertEqual(self.open_as(APP_USER, [APP_GROUP], seconds=0), "2.0.0 trial")  # counted in its own folder
        self.assertLess(time.monotonic() - start, 60)

    # 15
    def test_the_application_tries_and_confirms_without_rights_to_the_records(self):
        self.begin_trial()
        about = (self.model / "app").stat()
        self.assertEqual((stat.S_IMODE(about.st_mode), about.st_gid), (0o2770, APP_GROUP))
        before = (self.model / "slot.0").read_bytes(), (self.model / "slot.1").read_bytes()
        self.assertEqual(self.open_as(APP_USER, [APP_GROUP], "--confirm"), "2.0.0 trial")
        self.assertEqual(before, ((self.model / "slot.0").read_bytes(), (self.model / "slot.1").read_bytes()))
        self.assertEqual(self.status()["state"], "TRIAL")
        self.fleet("install")  # the agent's next round
        self.assertEqual(self.status()["state"], "CONFIRMED")

    def test_an_application_without_rights_uses_its_tries_up(self):
        self.begin_trial()
        for _ in range(2):
            self.assertEqual(self.open_as(APP_USER, [APP_GROUP], "--crash-on", "2.0.0", seconds=0), "2.0.0 trial")
            shutil.rmtree(self.model / "x", ignore_errors=True)
            if self.open_as(APP_USER, [APP_GROUP], seconds=0) == "1.0.0":
                break
        else:
            self.fail("a crashing model is tried again and again")
        self.fleet("install")
        self.assertEqual(self.status()["state"], "REVERTED")

    def test_links_in_the_applications_folder_lead_nowhere(self):
        self.begin_trial()
        victim = self.path / "victim"
        victim.write_text("precious\n")
        for name in ("confirmed", "confirmed.new", self.trial_name(), self.trial_name() + ".new"):
            self.assertIsNone(self.acting_as(APP_USER, [APP_GROUP], lambda: os.symlink(victim, self.model / "app" / name)))
        self.run_it([MOTE, "fleet", "--dir", "device", "confirm"], None)
        self.run_it([MOTE, "fleet", "--dir", "device", "install"], None)
        self.run_it([MOTE, "fleet", "--dir", "device", "status"], None)
        self.assertEqual(victim.read_text(), "precious\n")
        self.assertIn(self.status()["state"], ("TRIAL", "CONFIRMED"))

    def test_pipes_in_the_applications_folder_hold_nobody_up(self):
        self.begin_trial()
        name = self.trial_name()
        self.assertIsNone(self.acting_as(APP_USER, [APP_GROUP], lambda: os.mkfifo(self.model / "app" / name, 0o666)))
        start = time.monotonic()
        self.fleet("status")
        self.run_it([MOTE, "fleet", "--dir", "device", "install"], None)
        self.assertLess(time.monotonic() - start, 30)

    def test_neighbours_cannot_write_what_the_agent_reads(self):
        self.begin_trial()
        def writable():
            found = []
            for top, folders, names in os.walk(self.device):
                paths = [os.path.join(top, name) for name in [*folders, *names, "."]]
                found += [os.path.relpath(path, self.device) for path in paths if os.access(path, os.W_OK)]
            return found

        def may(user, groups):
            return set(self.acting_as(user, groups, writable))
        self.assertEqual(may(HOSTILE, [HOSTILE]), set())
        self.assertEqual({p for p in may(APP_USER, [APP_GROUP]) if not p.startswith("models/kws/app")}, set())

    # 16: the child that reads a package, taken over by it, when the agent that started it is root (testing/main.cc plays it)
    def test_the_probe_of_a_root_agent_has_no_privileges(self):
        self.assertEqual(os.geteuid(), 0)
        mine = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
        self.assertNotEqual(int(mine["CapBnd"], 16), 0, "there is nothing to drop: this test says nothing")
        os.setgroups([APP_GROUP, HOSTILE])
        self.addCleanup(os.setgroups, [])
        said = self.run_it([FLEET_TEST, "--misbehave", "privileges"])
        status = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, f"{name}: {status[name]}")
        self.assertEqual(status["Groups"].split(), [])
        self.assertEqual(status["NoNewPrivs"].strip(), "1")
        self.assertEqual(status["Seccomp"].strip(), "2")

    def test_the_probe_of_a_root_agent_cannot_touch_its_neighbours(self):
        def start(**user):
            self.processes.append(subprocess.Popen(["sleep", "600"], cwd="/", **user))
            return self.processes[-1]
        for neighbour in (start(), start(user=APP_USER, group=APP_GROUP, extra_groups=[])):
            for attack in ("kill", "tkill", "tgkill", "sigqueue", "tgsigqueue", "pidfd", "ptrace", "write-memory", "limits"):
                done = subprocess.run([FLEET_TEST, "--misbehave", attack, str(neighbour.pid)], capture_output=True, timeout=60)
                self.assertEqual(done.returncode, -signal.SIGSYS, f"{attack}: {done}")
                self.assertIsNone(neighbour.poll(), attack)

    # 17
    def test_the_hostile_user_cannot_swap_bytes_that_are_opened(self):
        self.begin_trial()
        objects = self.model / "objects"
        one = next(objects.iterdir())
        self.assertIn("PermissionError", self.acting_as(HOSTILE, [HOSTILE], lambda: os.rename(one, objects / "x")))
        self.assertEqual(self.open_as(HOSTILE, [HOSTILE], seconds=0), "1.0.0")  # who may not judge gets known-good


def enough_users():
    try:
        return subprocess.run(["true"], user=HOSTILE, group=HOSTILE, extra_groups=[]).returncode == 0
    except (PermissionError, OSError):
        return False


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if not enough_users():
        inside = os.environ.get("MOTE_NEIGHBOURS_INSIDE")
        command = ["unshare", "--user", "--map-root-user", "--map-auto"]
        if not inside and shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            os.environ["MOTE_NEIGHBOURS_INSIDE"] = "1"
            os.execvp("unshare", [*command, sys.executable, *sys.argv])
        print("skipped: test_neighbours needs root, or a user namespace with several users")
        sys.exit(77)
    unittest.main(verbosity=2, warnings="ignore")
