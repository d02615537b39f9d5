#!/bin/bash
# Make a disk image with netlab set up, for a virtual machine without a network.
#
#   build.sh [--wheel FILE] [--ca-bundle FILE] [amd64|arm64] [OUTPUT]
#
# FILE is netlab's wheel for Linux on that processor; by default the one that `make wheel` wrote to dist. The bundle holds the
# certificates that this network's registries need (a proxy of its own; by default $PIP_CERT's); it is used while building and is not
# in the image.
# Needs root, or user namespaces (then for this machine's architecture only). By Debian's names: mmdebstrap mtools dosfstools
# e2fsprogs fdisk qemu-utils, without root uidmap, for amd64 syslinux and syslinux-common, for another architecture than this
# machine's qemu-user-static, binfmt-support and arch-test. The image starts on UEFI; that for amd64 on a BIOS too. It has no password:
# the console logs the user netlab in, JupyterLab asks for the token that the console shows. docs/how-to/install.md has the lines
# to type before it, docs/evidence/tried.md says what was tried.
set -euo pipefail
wheel='' certificates=${PIP_CERT:-}
while [ $# -gt 0 ]; do
    case $1 in
    --wheel) wheel=$(realpath "$2") && shift 2 ;;
    --ca-bundle) certificates=$(realpath "$2") && shift 2 ;;
    *) break ;;
    esac
done
began=$SECONDS
size_mb=10240 # what is not written takes no room in the file
here=$(cd "$(dirname "$0")/.." && pwd)
arch=${1:-$(dpkg --print-architecture)}
output=$(realpath -m "${2:-$here/build/vm}")
case $arch in
amd64) machine=x86_64 kernel_package=linux-image-amd64 efi=systemd-bootx64.efi removable=BOOTX64.EFI console=ttyS0 ;;
arm64) machine=aarch64 kernel_package=linux-image-arm64 efi=systemd-bootaa64.efi removable=BOOTAA64.EFI console=ttyAMA0 ;;
*)
    echo "build.sh: the architecture must be amd64 or arm64, got $arch" >&2
    exit 2
    ;;
esac
suite=${NETLAB_SUITE:-trixie}
PATH=$PATH:/usr/sbin:/sbin
for program in mmdebstrap mcopy mkfs.vfat mke2fs sfdisk qemu-img; do
    command -v "$program" >/dev/null || {
        echo "build.sh: $program is missing; see the packages that this script names at its top" >&2
        exit 1
    }
done
[ -n "$wheel" ] || wheel=$({ find "$here/dist" -name "netlab-*_$machine.whl" 2>/dev/null || true; } | sort -V | tail -n 1)
if [ ! -f "$wheel" ]; then
    echo "build.sh: there is no wheel for $machine in $here/dist; make it with 'make wheel', or name one with --wheel FILE" >&2
    exit 1
fi
work=$(mktemp -d "${TMPDIR:-/var/tmp}/netlab-vm-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"

carried=("$here/vm/machine.sh" "$here/requirements.lock" "$wheel" "$work/inside.sh")
wheel=$(basename "$wheel")
version=${wheel#netlab-}
image="$output/netlab-${version%%-*}-$arch"
if [ -n "$certificates" ]; then
    cp "$certificates" "$work/certificates.pem"
    carried+=("$work/certificates.pem")
fi

foreign='' compile=true
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
    foreign=yes
    # The emulator's own choice of processor signs pointers, which takes most of its time (Debian's programs do it in each call).
    [ "$arch" != arm64 ] || export QEMU_CPU=cortex-a72
    # What needs no foreign processor is done here: fetching the packages, and compiling them by a Python of the same release, for
    # bytecode is the same everywhere.
    mmdebstrap --quiet --variant=minbase --include=python3 "$suite" "$work/native"
    mkdir "$work/wheels"
    platforms=(--platform "manylinux2014_$machine")
    for libc in 17 24 26 27 28 31 34 35; do platforms+=(--platform "manylinux_2_${libc}_$machine"); done
    env ${certificates:+PIP_CERT="$certificates"} "$here/.venv/bin/pip" download -q --no-deps --only-binary=:all: --implementation cp \
        --python-version "$(chroot "$work/native" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')" \
        "${platforms[@]}" -d "$work/wheels" -r "$here/requirements.lock"
    carried+=("$work/wheels")
    cat >"$work/compile.sh" <<X
set -eu
environment=\$1/home/netlab/env
mount --bind "\$environment" $work/native/mnt
# Some packages carry files of other versions of Python, which do not compile.
chroot $work/native python3 -m compileall -q -j 0 -s /mnt -p /home/netlab/env /mnt/lib >$work/compile.log 2>&1 || true
umount $work/native/mnt
chown -R --reference="\$environment" "\$environment/lib"
X
    compile="sh $work/compile.sh"
fi

# "no-compile = no" is pip's word for not compiling.
cat >"$work/inside.sh" <<X
#!/bin/sh
set -eu
cd /
${foreign:+printf '[global]\nno-index = true\nfind-links = /root/wheels\n[install]\nno-compile = no\n' > /etc/pip.conf}
${certificates:+export PIP_CERT=/root/certificates.pem}
echo netlab > /etc/hostname
printf '127.0.0.1 localhost\n127.0.1.1 netlab\n' > /etc/hosts
printf '[Match]\nType=ether\n[Network]\nDHCP=yes\n' > /etc/systemd/network/80-dhcp.network
printf 'LABEL=root / ext4 defaults,discard,errors=remount-ro 0 1\nLABEL=NETLABEFI /boot/efi vfat umask=0077,nofail 0 2\n' > /etc/fstab
mkdir -p /boot/efi
for line in getty@tty1 serial-getty@$console; do
    mkdir -p /etc/systemd/system/\$line.service.d
    printf '[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin netlab --noclear %%I \$TERM\n' > /etc/systemd/system/\$line.service.d/login.conf
done
# A new kernel must reach the partition that the firmware reads.
for event in postinst postrm; do
    mkdir -p /etc/kernel/\$event.d
    cat > /etc/kernel/\$event.d/zz-netlab << 'Y'
#!/bin/sh
mountpoint -q /boot/efi || exit 0
cp "\$(ls -v /boot/vmlinuz-* | tail -n 1)" /boot/efi/vmlinuz
cp "\$(ls -v /boot/initrd.img-* | tail -n 1)" /boot/efi/initrd.img
Y
    chmod 755 /etc/kernel/\$event.d/zz-netlab
done
sh /root/machine.sh /root/$wheel -c /root/requirements.lock
systemctl enable -q systemd-networkd systemd-resolved
# An emulated machine is slow, not broken.
mkdir -p /etc/systemd/system.conf.d
printf '[Manager]\nDefaultTimeoutStartSec=15min\nDefaultDeviceTimeoutSec=15min\n' > /etc/systemd/system.conf.d/patient.conf
rm -rf ${foreign:+/etc/pip.conf} /root/wheels /root/netlab* /root/requirements.lock /root/machine.sh /root/inside.sh /root/certificates.pem /home/netlab/.cache/pip
rm -f /etc/machine-id /home/netlab/.netlab-token /etc/ssh/ssh_host_*
: > /etc/machine-id
apt-get clean
rm -rf /var/lib/apt/lists/*
X

# Without root, what runs in the new system is nobody here: it writes to a file that was opened before, in a directory that only
# this user can enter.
: >"$work/root.ext4"
chmod 666 "$work/root.ext4"
exec 7<>"$work/root.ext4"

# The mirror and its keys are those of this machine.
echo "Building the root file system ($arch)"
mmdebstrap --architectures="$arch" --variant=minbase --include="$kernel_package,systemd-sysv,systemd-resolved,dbus,udev,kmod,iproute2,iptables,iputils-ping,iperf,iperf3,\
python3,python3-venv,sudo,ca-certificates,netbase,zstd,initramfs-tools,libatomic1,systemd-boot-efi" \
    --aptopt='Acquire::Languages "none"' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook="copy-in ${carried[*]} /root" \
    --customize-hook='chmod 711 "$1/root"; chmod -R a+rX "$1"/root/*' \
    --customize-hook='chroot "$1" sh /root/inside.sh' \
    --customize-hook="$compile \"\$1\"" \
    --customize-hook='chmod 700 "$1/root"; ln -sf /run/systemd/resolve/stub-resolv.conf "$1/etc/resolv.conf"' \
    --customize-hook='mkdir "$1/root/boot"; cp "$(ls -v "$1"/boot/vmlinuz-* | tail -n 1)" "$1/root/boot/vmlinuz"; cp "$(ls -v "$1"/boot/initrd.img-* | tail -n 1)" "$1/root/boot/initrd.img"' \
    --customize-hook="cp \"\$1/usr/lib/systemd/boot/efi/$efi\" \"\$1/root/boot\"" \
    --customize-hook="copy-out /root/boot $work" \
    --customize-hook='rm -r "$1/root/boot"' \
    --customize-hook="mount --bind \"\$1\" \"\$1/mnt\"; mke2fs -q -t ext4 -L root -d \"\$1/mnt\" /proc/self/fd/7 ${size_mb}M; umount \"\$1/mnt\"" \
    "$suite" /dev/null

echo "Making the disk"
truncate -s 192M "$work/efi.fat"
mkfs.vfat -n NETLABEFI "$work/efi.fat" >/dev/null
words="root=LABEL=root rw quiet console=tty0 console=$console"
mmd -i "$work/efi.fat" ::EFI ::EFI/BOOT ::loader ::loader/entries
mcopy -i "$work/efi.fat" "$work/boot/vmlinuz" "$work/boot/initrd.img" ::
mcopy -i "$work/efi.fat" "$work/boot/$efi" "::EFI/BOOT/$removable"
printf 'timeout 0\ndefault netlab.conf\n' | mcopy -i "$work/efi.fat" - ::loader/loader.conf
printf 'title netlab\nlinux /vmlinuz\ninitrd /initrd.img\noptions %s\n' "$words" | mcopy -i "$work/efi.fat" - ::loader/entries/netlab.conf
if [ "$arch" = amd64 ]; then
    printf 'DEFAULT netlab\nPROMPT 0\nLABEL netlab\n LINUX /vmlinuz\n INITRD /initrd.img\n APPEND %s\n' "$words" | mcopy -i "$work/efi.fat" - ::syslinux.cfg
    syslinux --install "$work/efi.fat"
fi
truncate -s $((1 + 192 + size_mb + 1))M "$work/disk.raw"
sfdisk -q "$work/disk.raw" <<X
label: gpt
start=1MiB, size=192MiB, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, attrs=LegacyBIOSBootable
type=0FC63DAF-8483-4772-8E79-3D69D8477DE4
X
dd if="$work/efi.fat" of="$work/disk.raw" bs=1M seek=1 conv=notrunc status=none
dd if="$work/root.ext4" of="$work/disk.raw" bs=1M seek=193 conv=notrunc,sparse status=none
[ "$arch" = amd64 ] && dd if=/usr/lib/syslinux/mbr/gptmbr.bin of="$work/disk.raw" bs=440 count=1 conv=notrunc status=none
qemu-img convert -c -O qcow2 -o compression_type=zstd "$work/disk.raw" "$image.qcow2"
qemu-img convert -O vmdk -o subformat=streamOptimized "$work/disk.raw" "$image.vmdk"
[ "$arch" != amd64 ] || python3 "$here/vm/ova.py" "$image.vmdk"
rm -f "$image.sha256"
(cd "$output" && sha256sum "$(basename "$image")".* >"$work/sha256" && cp "$work/sha256" "$image.sha256")
ls -l "$image".*
echo "Built in $((SECONDS - began)) s"
