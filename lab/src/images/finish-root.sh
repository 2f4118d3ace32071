#!/bin/sh
# Run by mmdebstrap after the installation: $1 is the new root, $2 the file for the list of packages.
set -eu
ROOT=$1
dpkg-query --admindir="$ROOT/var/lib/dpkg" --show > "$2"

# cloud-init reads only the seed that the agent attaches.
cat > "$ROOT/etc/cloud/cloud.cfg.d/90_gpuaas.cfg" << 'END'
datasource_list: [NoCloud, None]
# The host key comes with the seed; keys of other types would be unverified.
ssh_genkeytypes: [ed25519]
# The seed creates the only user.
users: []
END
printf 'PARTUUID=67707561-02 / ext4 defaults,noatime 0 1\n' > "$ROOT/etc/fstab"
ln -sf /run/systemd/resolve/stub-resolv.conf "$ROOT/etc/resolv.conf"
chroot "$ROOT" systemctl --quiet enable ssh systemd-networkd systemd-resolved
# No automatic changes during a tenant's work, and a first boot waits for no link that it does not have.
for unit in apt-daily.timer apt-daily-upgrade.timer motd-news.timer systemd-networkd-wait-online.service; do
  ln -sf /dev/null "$ROOT/etc/systemd/system/$unit"
done

# Each machine creates its own identity; remove what differs from build to build.
rm -f "$ROOT"/etc/ssh/ssh_host_* "$ROOT/var/lib/dbus/machine-id" "$ROOT/etc/.pwd.lock" "$ROOT"/etc/*- \
  "$ROOT/etc/hostname" "$ROOT/var/lib/systemd/random-seed" "$ROOT/var/cache/ldconfig/aux-cache"
: > "$ROOT/etc/machine-id"
find "$ROOT/var/log" "$ROOT/var/cache" "$ROOT/run" "$ROOT/tmp" "$ROOT/var/tmp" -type f -delete
