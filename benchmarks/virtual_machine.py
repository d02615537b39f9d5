"""Boot an image of build.sh in QEMU and use it as a student would: a browser on this machine opens the address that the console shows.

    python benchmarks/virtual_machine.py IMAGE.qcow2 [--firmware bios|uefi] [--until console|lab|experiment] [--picture PICTURE.png]

A VMDK, or the one in an OVA, is at a SATA disk and an E1000 network, as in the appliance for VirtualBox.
Emulated (no KVM), so it takes minutes. Needs Python's playwright, chromium and QEMU, for arm64 qemu-efi-aarch64, for UEFI on amd64 ovmf.
Nothing is written to the image.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

FIRMWARE = {"amd64": "/usr/share/ovmf/OVMF.fd", "arm64": "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd"}
MACHINE = {"amd64": ["qemu-system-x86_64", "-M", "q35", "-cpu", "max"],
           "arm64": ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72"]}  # fmt: skip
ADDRESS = re.compile(r"http://127\.0\.0\.1:8888/\?token=([0-9a-f]{32})")
# Start here's cells of code up to the first experiment; the third asks for a prediction.
CELLS = (1, 3, 5, 6)
PREDICTION = 5
WRITTEN = 'prediction = nl.checks.predict("round-trip time h1-h2", 30, unit="ms", low=0)'
CELL = '.jp-Notebook .jp-Cell[data-windowed-list-index="{}"]'
BEGAN_S = time.monotonic()


def say(text: str) -> None:
    """Print a line with the time since the start."""
    print(f"{time.monotonic() - BEGAN_S:6.0f} s  {text}", flush=True)


def answers(address: str) -> bool:
    """Whether JupyterLab is there."""
    try:
        with urllib.request.urlopen(address, timeout=20) as page:  # noqa: S310 (our own machine)
            return bool(page.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def refused(address: str) -> bool:
    """Whether an address is forbidden without a token."""
    try:
        with urllib.request.urlopen(address, timeout=60):  # noqa: S310 (our own machine)
            return False
    except urllib.error.HTTPError as error:
        return error.code in (401, 403)


def host_key(port: int) -> str:
    """The fingerprint of the machine's own SSH key."""
    scan = subprocess.run(
        ["ssh-keyscan", "-T", "60", "-t", "ed25519", "-p", str(port), "127.0.0.1"], capture_output=True
    )
    shown = subprocess.run(["ssh-keygen", "-lf", "-"], input=scan.stdout, capture_output=True, check=False)
    return shown.stdout.decode().strip() or "none"


def run_cell(page: Page, number: int, patience_s: int) -> None:
    """Run one cell and wait for its end; asked again where the page was not ready to hear it."""
    cell = page.locator(CELL.format(number))
    end_s = time.monotonic() + patience_s
    while time.monotonic() < end_s:
        try:
            for button in page.locator(".jp-Dialog .jp-mod-accept").all():
                button.click()
            cell.locator(".cm-content").click()
        except TooLate:
            continue
        if number == PREDICTION:
            page.keyboard.press("Control+A")
            page.keyboard.insert_text(WRITTEN)
        page.keyboard.press("Shift+Enter")
        time.sleep(20)
        while (prompt := cell.locator(".jp-InputPrompt").inner_text().strip()) == "[*]:":
            time.sleep(1)
        if re.fullmatch(r"\[\d+\]:", prompt):
            return
    raise SystemExit(f"Cell {number} did not run.")


def use(page_address: str, picture: Path | None, patience_s: int) -> None:
    """Open the chapters, run the first cells of Start here, print what they say."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(patience_s * 1000)
        page.goto(page_address)
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        say(f"the browser shows {page.title()}")
        page.set_default_timeout(30_000)
        for number in CELLS:
            run_cell(page, number, patience_s)
            cell = page.locator(CELL.format(number))
            said = "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts()).strip()
            say(f"cell {number} has run" + (f": {said[:400]}" if said else ""))
        if picture:
            page.screenshot(path=picture)
        browser.close()


def main() -> int:
    """Read the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("image", type=Path)
    parser.add_argument("--firmware", choices=("bios", "uefi"), default="uefi")
    parser.add_argument("--until", choices=("console", "lab", "experiment"), default="experiment", help="where to stop")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--port", type=int, default=18888)
    parser.add_argument("--patience", type=int, default=1500, help="seconds for each step")
    options = parser.parse_args()
    arch = "arm64" if "arm64" in options.image.name else "amd64"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        console = Path(place, "console")
        image: Path = options.image
        if image.suffix == ".ova":
            with tarfile.open(image) as appliance:
                name = next(name for name in appliance.getnames() if name.endswith(".vmdk"))
                appliance.extract(name, place)
            image = Path(place, name)
        disk, card = ("ide", "e1000") if image.suffix == ".vmdk" else ("virtio", "virtio-net-pci")
        command = [
            *MACHINE[arch], "-accel", "tcg,thread=multi", "-smp", "2", "-m", "3G", "-display", "none", "-monitor", "none",
            "-serial", f"file:{console}", "-device", "virtio-rng-pci",
            "-drive", f"file={image},if={disk},snapshot=on",
            "-nic", (f"user,model={card},hostfwd=tcp:127.0.0.1:{options.port}-:8888,"
            f"hostfwd=tcp:127.0.0.1:{options.port + 1}-:22"),
        ]  # fmt: skip
        if arch == "arm64" or options.firmware == "uefi":
            command += ["-bios", FIRMWARE[arch]]
        machine = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        try:
            found = None
            end_s = time.monotonic() + options.patience
            while not found and time.monotonic() < end_s and machine.poll() is None:
                time.sleep(2)
                found = ADDRESS.search(console.read_text(errors="replace")) if console.exists() else None
            text = console.read_text(errors="replace")
            if not found:
                print(text[-3000:], file=sys.stderr)
                return 1
            say("the console shows the address")
            if options.until == "console":
                return 0
            here = f"http://127.0.0.1:{options.port}"
            while not answers(f"{here}/api"):
                if time.monotonic() > end_s:
                    print(text[-3000:], file=sys.stderr)
                    return 1
                time.sleep(2)
            say("JupyterLab answers outside")
            if not refused(f"{here}/api/contents"):
                print("It gives files to who has no token.", file=sys.stderr)
                return 1
            say("without the token it refuses")
            say(f"its SSH key: {host_key(options.port + 1)}")
            if options.until == "lab":
                return 0
            use(f"{here}/?token={found[1]}", options.picture, options.patience)
            print(console.read_text(errors="replace")[-1500:])
        finally:
            machine.kill()
            machine.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
