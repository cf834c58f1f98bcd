"""scripts/fetch_data against a server on this machine: whole, truncated, altered, missing and foreign files.

The sets as their publishers write them are made from the converted ones beside the source tree; without those, the
tests of whole files are skipped, and said so.
"""
import http.server
import os
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.join(ROOT, "..", "shared", "data")
LABELS_ONE_TWO = {"german", "heart"}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def published(name):
    """The set's file as its publisher writes it, from the converted one."""
    rows = [line.split(",") for line in read(os.path.join(SHARED, name + ".csv")).decode().splitlines()[1:]]
    if name in LABELS_ONE_TWO:
        rows = [row[:-1] + [str(int(row[-1]) + 1)] for row in rows]
    if name == "heart":  # all of its numbers are written with one decimal, but the label
        rows = [[f"{float(field):.1f}" for field in row[:-1]] + [row[-1]] for row in rows]
    if name == "german":  # columns of a fixed width, blanks at both ends
        return "".join("".join(f"{field:>4} " for field in row) + "\n" for row in rows).encode()
    if name == "pima":  # with insulin, and cases that lack a value
        rows = [row[:4] + ["0"] + row[4:] for row in rows]
        rows.insert(2, "8,183,64,0,0,23.3,0.672,32,1".split(","))
        return "".join(",".join(row) + "\n" for row in rows).encode()
    if name == "ripley":
        return ("xs ys yc\n" + "".join(" ".join(row) + "\n" for row in rows)).encode()
    separator, end = ("\t", "\r\n") if name == "caravan" else (" ", "\n")
    return "".join(separator.join(row) + end for row in rows).encode()


FILES = {"australian": "australian.dat", "german": "german.data-numeric", "heart": "heart.dat",
         "pima": "pima-indians-diabetes.data.csv", "ripley": "synth.tr", "caravan": "ticdata2000.txt"}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + self.server.withheld))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class FetchData(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.files, self.server.withheld = {}, 0
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "out")
        self.url = f"http://127.0.0.1:{self.server.server_port}/data"

    def serve(self, file, body):
        self.server.files["/data/" + file] = body

    def fetch(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        return subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "fetch_data"), "--output", self.folder,
                               "--base-url", self.url, *arguments], capture_output=True, text=True, env=environment)

    def assert_refused(self, run, *texts, status=3):
        self.assertEqual(run.returncode, status, run.stderr)
        for text in texts:
            self.assertIn(text, run.stderr)
        self.assertEqual(os.listdir(self.folder), [])  # nothing half done stays behind

    def need_shared(self):
        if not os.path.isdir(SHARED):
            self.skipTest(f"the public data sets are not at {SHARED}")

    def test_whole_sets_are_converted_to_the_last_byte(self):
        self.need_shared()
        for name, file in FILES.items():
            self.serve(file, published(name))
        run = self.fetch(*FILES)
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in FILES:
            self.assertEqual(read(os.path.join(self.folder, name + ".csv")),
                             read(os.path.join(SHARED, name + ".csv")), name)
        self.server.files.clear()  # the second time nothing is fetched
        again = self.fetch(*FILES)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(again.stdout.count("already there"), len(FILES))

    def test_compressed_images_are_kept_as_they_are(self):
        self.need_shared()
        name = "train-labels-idx1-ubyte.gz"
        self.serve(name, read(os.path.join(SHARED, name)))
        run = self.fetch("mnist-labels")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(read(os.path.join(self.folder, name)), read(os.path.join(SHARED, name)))

    def test_one_altered_digit_is_refused(self):
        self.need_shared()
        body = published("ripley")
        self.serve("synth.tr", body.replace(b"0.05100797", b"0.05100798"))
        self.assert_refused(self.fetch("ripley"), "synth.tr: the file is altered or truncated",
                            "expected 8165781a07367c1e", "Nothing was written")

    def test_an_altered_file_on_disk_is_fetched_anew(self):
        self.need_shared()
        self.serve("synth.tr", published("ripley"))
        self.assertEqual(self.fetch("ripley").returncode, 0)
        path = os.path.join(self.folder, "ripley.csv")
        with open(path, "ab") as file:
            file.write(b"0,0,0\n")
        self.assertEqual(self.fetch("ripley").returncode, 0)
        self.assertEqual(read(path), read(os.path.join(SHARED, "ripley.csv")))

    def test_a_connection_that_ends_early_is_refused(self):
        self.serve("synth.tr", b"xs ys yc\n1 2 0\n")
        self.server.withheld = 85
        self.assert_refused(self.fetch("ripley"),
                            "synth.tr: the file is truncated (got 15 bytes of 100). Fetch it again?")

    def test_a_file_cut_at_a_line_is_refused(self):
        self.serve("synth.tr", b"xs ys yc\n0.05100797 0.16086164 0\n")
        self.assert_refused(self.fetch("ripley"), "the file is altered or truncated (33 bytes;")

    def test_a_file_cut_inside_a_line_is_refused(self):
        self.serve("synth.tr", b"xs ys yc\n0.05 0.16 0\n-0.7 0.0")
        self.assert_refused(self.fetch("ripley"), "not the data of ripley (", "different numbers of fields")

    def test_a_page_instead_of_data_is_refused(self):
        for body in (b"<html>\nsign in\n</html>\n", b"", "Zur\u00fcck".encode(), b"inf 1\n1 2\n"):
            self.serve("heart.dat", body)
            self.assert_refused(self.fetch("heart"), "heart.dat: not the data of heart (")

    def test_a_missing_file_does_not_keep_the_others_away(self):
        self.need_shared()
        self.serve("heart.dat", published("heart"))
        run = self.fetch("german", "heart")
        self.assertEqual(run.returncode, 3)
        self.assertIn("german.data-numeric: the server refuses (HTTP 404", run.stderr)
        self.assertEqual(os.listdir(self.folder), ["heart.csv"])

    def test_no_server(self):
        self.url = "http://127.0.0.1:1"
        self.assert_refused(self.fetch("ripley"), "it cannot be fetched (", "Is there a network")

    def test_an_unknown_set(self):
        run = self.fetch("iris")
        self.assertEqual(run.returncode, 2)
        self.assertIn("unknown set 'iris'", run.stderr)

    def test_a_folder_that_cannot_be_made(self):
        with open(self.folder, "w", encoding="ascii"):
            pass
        run = self.fetch("ripley")
        self.assertEqual(run.returncode, 5)
        self.assertIn("the folder cannot be made", run.stderr)

    def test_the_help_names_every_set_and_what_was_not_exercised(self):
        run = self.fetch("--help")
        self.assertEqual(run.returncode, 0)
        for name in FILES:
            self.assertIn(name, run.stdout)
        self.assertIn("have not been exercised", run.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
