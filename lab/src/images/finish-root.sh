#!/bin/sh
# Run by mmdebstrap when everything is installed: $1 is the new root, $2 where the list of packages goes.
set -eu
ROOT=$1
dpkg-query --admindir="$ROOT/var/lib/dpkg" --show > "$2"

# cloud-init takes its orders from the seed that the agent attaches, and looks nowhere else.
cat > "$ROOT/etc/cloud/cloud.cfg.d/90_gpuaas.cfg" << 'END'
datasource_list: [NoCloud, None]
# The host key comes with the seed; other kinds would be keys that nobody has vouched for.
ssh_genkeytypes: [ed25519]
# One user, made by the seed.
users: []
END
printf 'PARTUUID=67707561-02 / ext4 defaults,noatime 0 1\n' > "$ROOT/etc/fstab"
ln -sf /run/systemd/resolve/stub-resolv.conf "$ROOT/etc/resolv.conf"
chroot "$ROOT" systemctl --quiet enable ssh systemd-networkd systemd-resolved
# Nothing changes by itself under a tenant's work, and a first boot waits for no link that it does not have.
for unit in apt-daily.timer apt-daily-upgrade.timer motd-news.timer systemd-networkd-wait-online.service; do
  ln -sf /dev/null "$ROOT/etc/systemd/system/$unit"
done

# What differs from machine to machine is made by each machine, and what differs from build to build goes.
rm -f "$ROOT"/etc/ssh/ssh_host_* "$ROOT/var/lib/dbus/machine-id" "$ROOT/etc/.pwd.lock" "$ROOT"/etc/*- \
  "$ROOT/etc/hostname" "$ROOT/var/lib/systemd/random-seed" "$ROOT/var/cache/ldconfig/aux-cache"
: > "$ROOT/etc/machine-id"
find "$ROOT/var/log" "$ROOT/var/cache" "$ROOT/run" "$ROOT/tmp" "$ROOT/var/tmp" -type f -delete
