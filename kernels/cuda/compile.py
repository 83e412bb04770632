"""Compiles the CUDA kernels with NVRTC for every architecture that their headers declare; no GPU is needed.

    compile.py LIBRARIES OUT [ARCHITECTURE ...]

LIBRARIES holds the wheels of compilers.txt, each unpacked in a folder of its version; OUT takes the results: cubins, PTX of the oldest architecture,
`kernels.csv` (registers, spills, shared memory and bytes of each kernel) and `manifest.json` (hashes). What OUT already has of the same
sources is not compiled again. The exit code is 1 if a program does not compile where its header says so, compiles where its header
does not, or spills registers without `spills` in its header.
"""

import concurrent.futures
import csv
import ctypes
import hashlib
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
HEADERS = sorted(HERE.glob("*.cuh"))
PROGRAMS = sorted(HERE.glob("*.cu"))
# Compilers by version, each with the architectures that it compiles: 12.9 calls Thor's 11.0 by another number, so 13.0 does that
# one; 12.6 is what JetPack 6 has.
COMPILERS = {
    "12.9": ["70", "72", "75", "80", "86", "87", "89", "90", "90a", "100a", "120f", "121a"],
    "13.0": ["110a"],
    "12.6": ["87"],
}
# PTX that a driver compiles for an architecture without a cubin: the oldest one with all kernels, of the oldest compiler, because a
# driver reads no PTX of a later one.
PTX = [("12.6", "70"), ("12.6", "80")]


def number(architecture):
    return int(re.match(r"\d+", architecture)[0])


def header(program, name):
    found = re.search(rf"^// {name} +(.*)$", program.read_text(), re.M)
    return found[1].strip() if found else None


def least(program):
    return int(re.match(r">=(\d+)", header(program, "arch"))[1])


def library(folder, version):
    major = version.split(".")[0]
    return next(folder.glob(f"{version}.*/**/libnvrtc.so.{major}"))


def compile_one(task):
    """Compiles a program; answers the binary, or nothing, and the log."""
    folder, version, architecture, program, is_ptx = task
    found = library(folder, version)
    # NVRTC opens its other library by name alone, which finds one that is open already.
    for builtins in found.parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(str(found))
    handle = ctypes.c_void_p()
    texts = (ctypes.c_char_p * len(HEADERS))(*[it.read_bytes() for it in HEADERS])
    names = (ctypes.c_char_p * len(HEADERS))(*[it.name.encode() for it in HEADERS])
    made = nvrtc.nvrtcCreateProgram(
        ctypes.byref(handle), program.read_bytes(), program.name.encode(), len(HEADERS), texts, names
    )
    assert made == 0, f"NVRTC {version} does not take {program.name}"
    kind = "compute" if is_ptx else "sm"
    options = [f"--gpu-architecture={kind}_{architecture}", "-std=c++17"]
    options += [] if is_ptx else ["--ptxas-options=-v"]
    encoded = [option.encode() for option in options]
    result = nvrtc.nvrtcCompileProgram(handle, len(options), (ctypes.c_char_p * len(options))(*encoded))
    size = ctypes.c_size_t()

    def text(size_of, get):
        getattr(nvrtc, size_of)(handle, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, get)(handle, buffer)
        return buffer.raw

    log = text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog").rstrip(b"\0").decode()
    if result != 0:
        return None, log
    what = ("nvrtcGetPTXSize", "nvrtcGetPTX") if is_ptx else ("nvrtcGetCUBINSize", "nvrtcGetCUBIN")
    return text(*what), log


def tasks(folder, wanted):
    for version, architectures in COMPILERS.items():
        for architecture in architectures:
            if not wanted or architecture in wanted:
                for program in PROGRAMS:
                    yield folder, version, architecture, program, False
    for version, architecture in PTX:
        if not wanted or architecture in wanted:
            for program in PROGRAMS:
                if least(program) <= number(architecture):
                    yield folder, version, architecture, program, True


def file_of(task):
    _, version, architecture, program, is_ptx = task
    kind = f"compute_{architecture}.ptx" if is_ptx else f"sm_{architecture}.cubin"
    return f"{program.stem}.{version}.{kind}"


def hash_of(task):
    _, version, architecture, program, is_ptx = task
    # The list of compilers, too: another version of one may make another binary.
    files = [*HEADERS, program, HERE / "compilers.txt", pathlib.Path(__file__)]
    sources = b"".join(it.read_bytes() for it in files)
    return hashlib.sha256(f"{version} {architecture} {is_ptx} ".encode() + sources).hexdigest()


def rows(task, log, size):
    """Registers, spills and memory of each kernel, from the log of ptxas."""
    pattern = (
        r"Compiling entry function '(\w+)' for.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
        r".*?Used (\d+) registers(?:.*?(\d+) bytes smem)?"
    )
    _, version, architecture, program, _ = task
    for part in re.split(r"(?=ptxas info *: Compiling entry)", log):
        found = re.search(pattern, part, re.S)
        if found:
            name, stack, stores, loads, registers, shared = found.groups()
            yield [program.name, name, version, architecture, registers, int(stores) + int(loads), stack, shared or 0, size]


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    known = out / "manifest.json"
    before = json.loads(known.read_text()) if known.exists() else {}
    all_tasks = list(tasks(folder, sys.argv[3:]))

    def is_made(task):
        entry = before.get(file_of(task), {})
        has_binary = entry.get("sha256") is None or (out / file_of(task)).exists()
        return entry.get("sources") == hash_of(task) and has_binary

    is_known = {task: is_made(task) for task in all_tasks}
    new = [task for task in all_tasks if not is_known[task]]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        made = dict(zip(new, pool.map(compile_one, new)))
    manifest, table, faults = {}, [], []
    for task in all_tasks:
        _, version, architecture, program, is_ptx = task
        name, place = file_of(task), f"{program.name} for {task[2]} by NVRTC {version}"
        if is_known[task]:
            entry = before[name]
        else:
            binary, log = made[task]
            is_declared = least(program) <= number(architecture)
            if (binary is not None) != is_declared:
                verb = "does not compile" if is_declared else "compiles, which its header does not say"
                faults.append(f"{place} {verb}\n{log}")
                continue
            if binary is not None:
                (out / name).write_bytes(binary)
            entry = {
                "sources": hash_of(task),
                "sha256": binary and hashlib.sha256(binary).hexdigest(),
                "kernels": [] if is_ptx or binary is None else list(rows(task, log, len(binary))),
            }
        manifest[name] = entry
        for row in entry["kernels"]:
            table.append(row)
            if row[5] > 0 and not header(program, "spills"):
                faults.append(f"{place}: {row[1]} spills {row[5]} bytes; name the reason in its header as `spills`")
        if entry["sha256"] and not is_ptx and not entry["kernels"]:
            faults.append(f"{place}: no kernel is in the log of ptxas")
    known.write_text(json.dumps(manifest, indent=1))
    with open(out / "kernels.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow("program kernel compiler architecture registers spill_bytes stack_bytes shared_bytes cubin_bytes".split())
        writer.writerows(table)
    refused = sum(entry["sha256"] is None for entry in manifest.values())
    architectures = {row[3] for row in table}
    most = max((int(row[4]) for row in table), default=0)
    print(
        f"{len(table)} kernels for {len(architectures)} architectures, {len(new)} of {len(all_tasks)} programs compiled now, "
        f"{refused} refused as declared, at most {most} registers, {sum(row[5] for row in table)} bytes spilled"
    )
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
