#!/bin/sh
# Make a Debian or Ubuntu machine one of netlab: a user `netlab`, the clone in its home, JupyterLab as a service.
# Run as root on a machine that is netlab's own: cloud-init.yaml and lima.yaml fetch it, build.sh runs it in an image.
#
#   machine.sh SOURCE [KERNELS]
#
# SOURCE is what `git clone` takes. KERNELS, a file of `netlab kernel pack`, saves building kernels. Where pip must trust another
# certificate than the system's, name it in PIP_CERT.
set -eu
source=$1
kernels=${2:-}
home=/home/netlab

# Lima runs this at each start, with a network or without: a machine that is made stays as it is.
if systemctl is-enabled --quiet netlab.service 2>/dev/null; then
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends ca-certificates git make sudo openssh-server
python3 -c 'import ensurepip' 2>/dev/null || apt-get install -q -y --no-install-recommends python3-venv

id netlab >/dev/null 2>&1 || useradd --create-home --shell /bin/bash netlab
# No password at all: the console or the token is enough to use the machine, and the native engine needs root.
echo 'netlab ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/netlab
chmod 440 /etc/sudoers.d/netlab
as_netlab() { sudo --preserve-env=PIP_CERT,QEMU_CPU -u netlab -H sh -c "cd $home/netlab && $1"; }
[ -d "$home/netlab/.git" ] || sudo -u netlab -H git -c advice.detachedHead=false clone -q "$source" "$home/netlab"

# Kernels first: with them no compiler is asked for.
[ -z "$kernels" ] || as_netlab "python3 -m netlab_kernel.command unpack '$kernels'"
NETLAB_CACHE=$home/.cache/netlab sh "$home/netlab/tools/setup.sh" --system
as_netlab 'make setup'

# A token for each machine, made when it first starts: a forwarded port must not be open to anybody.
cat > /usr/local/sbin/netlab-token <<'X'
#!/bin/sh
set -eu
token=/home/netlab/.netlab-token
[ -s "$token" ] || {
    (umask 077 && head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' > "$token")
    chown netlab:netlab "$token"
}
mkdir -p /etc/issue.d
printf '\nnetlab: open in your own browser  http://127.0.0.1:8888/?token=%s\n\n' "$(cat "$token")" > /etc/motd
cp /etc/motd /etc/issue.d/netlab.issue
cat /etc/motd > /dev/console 2>/dev/null || true
X
chmod 755 /usr/local/sbin/netlab-token
cat > /etc/systemd/system/netlab.service <<'X'
[Unit]
Description=The chapters of netlab in JupyterLab
After=network.target

[Service]
User=netlab
WorkingDirectory=/home/netlab
ExecStartPre=+/usr/local/sbin/netlab-token
ExecStart=/bin/sh -c 'exec netlab/.venv/bin/netlab lab -- --no-browser --ip=0.0.0.0 --port=8888 --IdentityProvider.token="$(cat .netlab-token)"'
Restart=on-failure

[Install]
WantedBy=multi-user.target
X
# An image has no host keys: machines made of one must not share them. Debian's own unit makes them for ssh.socket only.
cat > /etc/systemd/system/netlab-host-keys.service <<'X'
[Unit]
Description=SSH host keys of this machine's own
Before=ssh.service ssh.socket
ConditionPathExists=!/etc/ssh/ssh_host_ed25519_key

[Service]
Type=oneshot
ExecStart=/usr/bin/ssh-keygen -A

[Install]
WantedBy=multi-user.target
X
systemctl enable netlab.service netlab-host-keys.service
# In an image that is being built there is no systemd that could start it.
if [ -d /run/systemd/system ]; then
    systemctl restart netlab.service
    cat /etc/motd
fi
