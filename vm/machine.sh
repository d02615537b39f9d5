#!/bin/sh
# Make a Debian or Ubuntu machine one of netlab: a user `netlab`, the wheel in an environment of its own, JupyterLab as a service.
# Run as root on a machine that is netlab's own: cloud-init.yaml and lima.yaml fetch it, build.sh runs it in an image.
#
#   machine.sh WHEEL [PIP_OPTION...]
#
# WHEEL is what `pip install` takes: the file for this machine's processor, or its address. If pip must trust another certificate
# than the system's, name it in PIP_CERT.
set -eu
if [ $# -eq 0 ]; then
    echo "machine.sh: name netlab's wheel, a file or an address, as pip install takes it" >&2
    exit 2
fi
home=/home/netlab

# Lima runs this at each start, with a network or without: a machine that is made stays as it is.
if systemctl is-enabled --quiet netlab.service 2>/dev/null; then
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends ca-certificates sudo openssh-server python3-venv \
    iproute2 iperf iperf3 iptables iputils-ping

id netlab >/dev/null 2>&1 || useradd --create-home --shell /bin/bash netlab
# No password at all: the console or the token is enough to use the machine, and the native engine needs root.
echo 'netlab ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/netlab
chmod 440 /etc/sudoers.d/netlab
as_netlab() { (cd $home && sudo --preserve-env=PIP_CERT,QEMU_CPU -u netlab -H "$@"); }
as_netlab python3 -m venv env
as_netlab env/bin/pip install -q --disable-pip-version-check "$@"
as_netlab env/bin/netlab doctor

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
Environment=PATH=/home/netlab/env/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStartPre=+/usr/local/sbin/netlab-token
ExecStart=/bin/sh -c 'exec netlab lab -- --no-browser --ip=0.0.0.0 --port=8888 --IdentityProvider.token="$(cat .netlab-token)"'
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
