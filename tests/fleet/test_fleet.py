"""From publisher to application through a real nginx: good updates arrive, bad ones go back by themselves.

MOTE_CYCLES sets how many power cycles a confirmed model has to bear.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

from fleet_case import APP, MODEL, MOTE, MOTED, Case, server_program, wait_for


CYCLES = int(os.environ.get("MOTE_CYCLES", "50"))


class EndToEnd(Case):
    def confirmed(self, version):
        status = self.status("install")
        self.assertEqual(status["state"], "TRIAL", status)
        app = self.start_app()
        self.app_says(app, f"{version} trial")
        wait_for(lambda: self.status()["state"] == "CONFIRMED")
        return app

    def test_good_bad_good(self):
        self.offer("1.0.0")
        self.init_device()
        app = self.confirmed("1.0.0")
        # A version whose gate fails in trial: the running application swaps to it, and back, without a restart.
        self.offer("2.0.0", "--gate-p99-us", "100000", "--gate-soak", "3600")
        app.kill()
        app = self.start_app("--slow-on", "2.0.0")
        self.app_says(app, "1.0.0")
        self.assertEqual(self.status("install")["state"], "TRIAL")
        self.app_says(app, "2.0.0 trial")
        took = self.app_says(app, "1.0.0")
        print(f"rollback after a failing health gate: no restart, {took:.2f} s")
        status = self.status()
        self.assertEqual((status["state"], status["active"]["version"]), ("REVERTED", "1.0.0"))
        self.assertIn("p99", status["quarantine"][0]["reason"])
        self.assertIn("quarantined", self.status("check")["note"])
        self.offer("3.0.0")
        self.assertEqual(self.status("install")["state"], "TRIAL")
        self.app_says(app, "3.0.0 trial")
        wait_for(lambda: self.status()["state"] == "CONFIRMED")
        self.assertEqual(self.status()["known_good"]["version"], "3.0.0")
        states = [e["state"] for e in json.loads(self.fleet("history", "--json"))["history"]]
        self.assertEqual(states.count("CONFIRMED"), 2)
        self.assertEqual(states.count("REVERTED"), 1)
        self.assertIn("known-good 3.0.0 is intact", self.fleet("doctor"))
        self.fleet("rollback", "kws", "--reason", "taste")
        self.app_says(app, "1.0.0")

    def test_a_crashing_application_gets_its_old_model_back_after_one_restart(self):
        self.offer("1.0.0")
        self.init_device()
        self.confirmed("1.0.0").kill()
        self.offer("2.0.0", "--gate-confirmation")
        self.assertEqual(self.status("install")["state"], "TRIAL")
        crashed = subprocess.run([APP, self.path / "device", "kws", "--crash-on", "2.0.0"], capture_output=True, text=True)
        self.assertEqual((crashed.returncode, crashed.stdout), (-6, "2.0.0 trial\n"))
        took = self.app_says(self.start_app("--crash-on", "2.0.0"), "1.0.0")
        print(f"rollback after a crash: one restart, {took:.2f} s")
        self.assertIn("crash", self.status()["quarantine"][0]["reason"])

    def test_quick_power_cycles_never_move_a_confirmed_slot(self):
        """Kills at random while the application starts, opens and runs (RAUC #490: a counter that went down with every boot)."""
        self.offer("1.0.0")
        self.init_device()
        self.confirmed("1.0.0").kill()
        slots = [self.path / f"device/models/kws/slot.{n}" for n in (0, 1)]
        before = [slot.read_bytes() for slot in slots]
        chance = random.Random(3)
        for _ in range(CYCLES):
            app = subprocess.Popen([APP, self.path / "device", "kws"], stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.05))
            app.kill()
            app.wait()
        self.assertEqual([slot.read_bytes() for slot in slots], before)
        self.app_says(self.start_app(), "1.0.0")
        print(f"{CYCLES} power cycles, both slots as they were")

    def test_confirmation_is_waited_for(self):
        self.offer("1.0.0", "--gate-confirmation")
        self.init_device()
        self.status("install")
        app = self.start_app()
        self.app_says(app, "1.0.0 trial")
        time.sleep(0.6)
        self.assertEqual(self.status()["state"], "TRIAL")
        self.fleet("confirm", "kws")
        self.assertEqual(self.status()["state"], "CONFIRMED")

    def test_confirm_and_rollback_need_no_id_where_there_is_one_model(self):
        self.offer("1.0.0", "--gate-confirmation")
        self.init_device()
        self.status("install")
        app = self.start_app()
        self.app_says(app, "1.0.0 trial")
        self.assertEqual(self.status()["state"], "TRIAL")
        self.fleet("confirm")
        self.assertEqual(self.status()["state"], "CONFIRMED")
        app.kill()
        self.offer("2.0.0")
        self.confirmed("2.0.0").kill()
        self.fleet("rollback", "--reason", "taste")
        said = self.status()
        self.assertEqual((said["known_good"]["version"], said["state"]), ("1.0.0", "REVERTED"))
        self.assertEqual(said["quarantine"][0]["reason"], "taste")

    def test_confirm_and_rollback_need_an_id_where_there_are_two_models(self):
        self.offer("1.0.0", "--gate-confirmation")
        self.init_device()
        config = self.path / "device/fleet.toml"
        config.write_text(config.read_text().replace("[models]\n", '[models]\nlights = "stable"\n'))
        self.fleet("install", "kws")
        self.app_says(self.start_app(), "1.0.0 trial")
        for command in ("confirm", "rollback"):
            said = self.fleet(command, code=2)
            self.assertIn("this device has 2 models", said)
            self.assertIn("kws", said)
            self.assertIn("lights", said)
        states = {model["id"]: model["state"] for model in json.loads(self.fleet("status", "--json"))["models"]}
        self.assertEqual(states, {"kws": "TRIAL", "lights": "IDLE"})
        self.fleet("confirm", "kws")
        states = {model["id"]: model["state"] for model in json.loads(self.fleet("status", "--json"))["models"]}
        self.assertEqual(states, {"kws": "CONFIRMED", "lights": "IDLE"})

    def test_refusals_say_why(self):
        self.offer("1.0.0", "--runtime-min", "99.0.0")
        self.init_device()
        self.assertIn("needs Mote 99.0.0 or later", self.status("check")["note"])
        self.assertIn("needs Mote 99.0.0", self.fleet("explain", "kws-1.0.0.mpkg", code=1))
        self.offer("1.0.1")
        (self.path / "device/conditions.toml").write_text("metered = true\n")
        config = self.path / "device/fleet.toml"
        config.write_text(config.read_text() + '\n[policy]\nmetered = false\nforbid = ["cpu"]\nstorage_bytes = 5\n')
        note = self.status("check")["note"]
        for reason in ("forbids backend cpu", "not over a metered network", "5 are allowed"):
            self.assertIn(reason, note)
        self.assertEqual(self.status()["state"], "IDLE")

    def test_looking_does_not_wait_for_the_agent(self):
        """While a slow download holds the agent's turn, people can look, and go back."""
        self.offer("1.0.0")
        self.init_device()
        self.confirmed("1.0.0").kill()
        (self.path / "ballast.bin").write_bytes(bytes(3 << 20))
        self.offer("2.0.0", extra=["ballast.bin"])
        config = self.path / "device/fleet.toml"
        config.write_text(config.read_text() + "[policy]\nmax_bytes_per_second = 50_000\n")
        slow = self.start([MOTE, "fleet", "--dir", "device", "fetch"], stdout=subprocess.DEVNULL)
        wait_for(lambda: self.status()["state"] == "FETCHING")
        self.assertIsNone(slow.poll())
        self.assertIn("another agent is at work", self.fleet("check", code=1))
        self.fleet("history")
        self.assertIn("1.0.0 is intact", self.fleet("doctor"))
        self.assertIn("signed policy is not looked at", self.fleet("explain", "kws-2.0.0.mpkg"))

    def test_the_best_variant_that_runs_here_is_taken(self):
        program = pathlib.Path(MODEL).read_bytes()
        for name in ("first.mote", "second.mote"):
            (self.path / name).write_bytes(program)
        self.mote("package", "create", "kws-1.0.0.mpkg", "first.mote@no-such-isa", "second.mote", "--id", "kws")
        self.mote("repo", "add", "repo", "kws-1.0.0.mpkg", "--name", "kws/1.0.0.mpkg")
        self.init_device()
        self.assertIn("second.mote would run", self.fleet("explain", "kws-1.0.0.mpkg"))
        self.mote("package", "create", "kws-1.0.0.mpkg", "first.mote@no-such-isa", "--id", "kws")
        said = self.fleet("explain", "kws-1.0.0.mpkg", code=1)
        self.assertIn("needs one of the instruction sets no-such-isa", said)

    def test_a_damaged_program_fails_its_probe(self):
        self.offer("1.0.0")
        self.init_device()
        self.confirmed("1.0.0")
        damaged = bytearray(pathlib.Path(MODEL).read_bytes())
        damaged[-100] ^= 1
        (self.path / "damaged.mote").write_bytes(damaged)
        self.offer("2.0.0", model="damaged.mote")
        status = self.status("install")
        self.assertEqual((status["state"], status["active"]["version"]), ("IDLE", "1.0.0"), status)
        self.assertIn("quarantine", status)
        print("probe: " + status["quarantine"][0]["reason"])

    def test_signed_policy_rings_and_halt(self):
        self.offer("1.0.0", percent=0)
        self.init_device()
        self.assertIn("not yet this device's turn", self.status("check")["note"])
        (self.path / "policy.json").write_text('{"channels": ["beta"], "format": 1}')
        self.mote("repo", "add", "repo", "policy.json")
        self.offer("1.0.1")
        self.assertIn("has no channel 'stable'", self.status("check")["note"])
        (self.path / "policy.json").write_text('{"surprise": 1}')
        self.mote("repo", "add", "repo", "policy.json")
        self.offer("1.0.2")
        self.assertIn("'surprise' is not known", self.fleet("check", code=1))
        (self.path / "policy.json").write_text("{}")
        self.mote("repo", "add", "repo", "policy.json")
        self.offer("1.0.3")
        self.assertEqual(self.status("check")["state"], "ADMITTED")
        self.mote("repo", "halt", "repo", "stable", "--keys", "keys")
        status = self.status("install")
        self.assertEqual((status["state"], status["note"]), ("ADMITTED", "the rollout is halted"))
        self.offer("1.0.4")  # what was under way gives way to what is offered now
        self.assertEqual(self.status("fetch")["candidate"]["version"], "1.0.4")
        self.mote("repo", "withdraw", "repo", "stable", "--keys", "keys")
        status = self.status("install")
        self.assertEqual((status["state"], status["candidate"]), ("IDLE", None))
        self.assertIn("offers nothing", status["note"])

    def test_moted_does_all_of_it_and_idles_small(self):
        self.offer("1.0.0")
        self.init_device()
        moted = self.start([MOTED, "--dir", self.path / "device"], stderr=subprocess.DEVNULL)
        wait_for(lambda: self.state() == "TRIAL", 60)
        self.app_says(self.start_app(), "1.0.0 trial")
        wait_for(lambda: self.state() == "CONFIRMED", 60)
        with open(f"/proc/{moted.pid}/smaps_rollup") as rollup:
            memory = {line.split(":")[0]: int(line.split()[1]) for line in rollup if line.split()[-1] == "kB"}
        print(f"moted idle: Rss {memory['Rss']} kB, Pss {memory['Pss']} kB")
        if "MOTE_SANITIZED" not in os.environ:
            self.assertLess(memory["Rss"], 12 * 1024)
        moted.terminate()
        self.assertEqual(moted.wait(10), 0)

    def state(self):
        """Of the record, without the agent's lock."""
        command = [os.environ["MOTE"], "fleet", "--dir", "device", "--json", "status"]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True)
        return json.loads(done.stdout)["models"][0]["state"] if done.returncode == 0 else None


if __name__ == "__main__":
    if not server_program("nginx"):
        print("skipped: nginx is not installed")
        sys.exit(77)
    unittest.main(verbosity=2, warnings="ignore")
