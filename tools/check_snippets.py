#!/usr/bin/env python3
"""Checks every snippet of README.md and docs/*.md: shell is run, C, C++, CMake and TOML must stand in a file that the build
or a run reads, Python is run when its imports are there. Text is output of scripts/demo: every line must be printed by it,
numbers aside. Links must lead to files that are there. Usage: check_snippets.py, from the repository root, after a build.

scripts/demo and scripts/test are whole runs of their own: the demo is a test beside this one, and scripts/test runs both.
scripts/install_stan fetches what Stan's snippets need; without it they are skipped aloud.
"""
import glob, os, re, subprocess, sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
os.chdir(root)
pages = ["README.md", *sorted("docs/" + f for f in os.listdir("docs") if f.endswith(".md"))]
OWN_RUNS = {"scripts/demo", "scripts/test", "scripts/test unit", "scripts/install_stan"}
has_stan = os.path.exists(os.environ.get("STAN_HOME") or os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "kilochain/stan"))

def files(*endings):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True).stdout.split()
    return [f for f in listed if f.endswith(endings) and os.path.exists(f)]

def lines_of(text):
    return [l.strip() for l in text.strip().splitlines() if l.strip()]

def stands_in(snippet, candidates):
    want = lines_of(snippet)
    for f in candidates:
        have = lines_of(open(f, errors="replace").read())
        if any(have[i:i + len(want)] == want for i in range(len(have) - len(want) + 1)):
            return f
    return None

def shape(line):
    return re.sub(r"[-+]?\d[\d.]*", "#", " ".join(line.split()))

os.environ["PYTHONPATH"] = os.path.abspath("build/release/python")  # the package as it was built
failures, count = [], 0
os.makedirs("output", exist_ok=True)
for old in glob.glob("output/*.nc"):  # a run replaces no draws
    os.remove(old)
for page in files(".md"):
    words = re.sub(r"^```.*?^```|`[^`\n]*`", "", open(page).read(), flags=re.M | re.S)
    links = re.findall(r"\]\(([^)#\s]+)", words)
    failures += [f"{page}: a link to {l}, which is not there" for l in links
                 if "://" not in l and not os.path.exists(os.path.join(os.path.dirname(page), l))]
for page in pages:
    for kind, body in re.findall(r"^```(\w+)\n(.*?)^```", open(page).read(), re.M | re.S):
        count += 1
        where = f"{page}: {body.splitlines()[0]}"
        if kind == "sh":
            commands = [c for c in body.replace("\\\n", " ").splitlines() if c.strip() and c.strip() not in OWN_RUNS]
            for command in commands:
                if not has_stan and re.search("--target stan|stan compile", command):
                    print(f"SKIPPED, Stan is not installed: {where}")
                    continue
                run = subprocess.run(["bash", "-ec", command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
                if run.returncode:
                    failures.append(f"{where}\n  `{command}` exited with {run.returncode}: {run.stderr.strip()[-500:]}")
        elif kind == "text":
            run = subprocess.run(["scripts/demo"], capture_output=True, text=True, env=dict(os.environ, KILOCHAIN_DEMO_NO_BUILD="1"))
            printed = {shape(l) for l in run.stdout.splitlines()}
            lost = [l for l in lines_of(body) if shape(l) not in printed]
            if lost:
                failures.append(f"{where}\n  the demo does not print: {lost[0]}")
        elif kind == "python":
            python = os.environ.get("KILOCHAIN_PYTHON", sys.executable)
            imports = [l for l in body.splitlines() if l.startswith("import ")]
            if subprocess.run([python, "-c", "\n".join(imports)], capture_output=True).returncode:
                print(f"SKIPPED, its imports are not installed: {where}")
                continue
            run = subprocess.run([python, "-c", body], capture_output=True, text=True)
            if run.returncode:
                failures.append(f"{where}\n  {run.stderr.strip()[-500:]}")
        else:
            endings = {"c": (".c", ".h"), "cpp": (".hpp", ".cpp", ".cu", ".cuh"), "cmake": (".cmake", "CMakeLists.txt"), "toml": (".toml",)}.get(kind)
            if endings is None:
                failures.append(f"{where}\n  nothing checks a snippet of kind {kind}")
            elif not stands_in(body, files(*endings)):
                failures.append(f"{where}\n  these lines stand in no {' or '.join(endings)} file")
print(f"{count} snippets, {len(failures)} wrong")
print("\n".join(failures))
sys.exit(bool(failures))
