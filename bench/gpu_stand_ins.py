"""What stands in for data and peers in a smoke run of on_gpu.py. Standard library only."""
import gzip, os, random, struct


def stand_ins(folder, libraries):
    """Tiny tables and images, a peers' script that makes its figures up, and the two modules that compare_peers.py reads draws with."""
    draw = random.Random(7)
    for name, rows, columns in (("german", 60, 6), ("caravan", 90, 9)):
        with open(os.path.join(folder, name + ".csv"), "w") as f:
            f.write(",".join(f"x{j}" for j in range(columns)) + ",y\n")
            for i in range(rows):
                f.write(",".join(str(draw.randint(0, 9)) for _ in range(columns)) + f",{i % 2}\n")
    with gzip.open(os.path.join(folder, "mnist56-images-idx3-ubyte.gz"), "wb") as f:
        f.write(struct.pack(">IIII", 0x803, 50, 4, 4) + bytes(draw.randint(0, 255) for _ in range(50 * 16)))
    with gzip.open(os.path.join(folder, "mnist56-labels-idx1-ubyte.gz"), "wb") as f:
        f.write(struct.pack(">II", 0x801, 50) + bytes(5 + i % 2 for i in range(50)))
    with open(os.path.join(folder, "peers.py"), "w") as f:
        f.write(f"import os\nassert {libraries!r} not in os.environ.get('LD_LIBRARY_PATH', ''), 'peers see our libraries'\n"
                "import json, sys\nname = sys.argv[sys.argv.index('--peer') + 1]\n"
                "print(json.dumps(dict(peer=name, samples=1, warmup=1, seconds_warm=1.0, seconds_cold=2.0, ess_min=1.0, ess_squares_min=1.0, min_ess_per_second=1.0, rhat_max=1.0)))\n")
    with open(os.path.join(folder, "numpy.py"), "w") as f:
        f.write("def save(path, x):\n    open(path, 'w').close()\n")
    with open(os.path.join(folder, "netCDF4.py"), "w") as f:
        f.write("class Variable:\n    ndim = 3\n    def __getitem__(self, at): return self\n    def filled(self): return self\n"
                "class Group:\n    variables = dict(x=Variable())\n"
                "def Dataset(path):\n    assert open(path, 'rb').read(4) == b'\\x89HDF'\n    return dict(posterior=Group())\n")
