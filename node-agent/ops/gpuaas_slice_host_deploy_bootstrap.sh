#!/bin/bash
# Makes a deployed Ubuntu machine a slice host of GPUaaS, with the steps that an import from MAAS takes. The agent must be
# installed. Without --apply it prints what would change.
#   GPUAAS_AGENT_TOKEN=gpe_… gpuaas_slice_host_deploy_bootstrap.sh --server https://gpuaas.example:8443 --apply
# The enrolment token comes from the environment, because process lists show arguments.
set -euo pipefail
umask 077

server=
name="$(hostname -s)"
hugepages=0
apply=no
usage() { echo "usage: ${0##*/} --server <url> [--hostname <name>] [--hugepages-gib <number>] [--apply]" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case "$1" in
    --server) server="${2:?}"; shift 2 ;;
    --hostname) name="${2:?}"; shift 2 ;;
    --hugepages-gib) hugepages="${2:?}"; shift 2 ;;
    --apply) apply=yes; shift ;;
    *) usage ;;
  esac
done
bootstrap=(gpuaas-node-agent bootstrap --hostname "$name" --hugepages-gib "$hugepages")

if [ "$apply" = no ]; then
  gpuaas-node-agent firmware --profile slice-vm
  "${bootstrap[@]}"
  exit 0
fi
[ -n "$server" ] || usage
[ -n "${GPUAAS_AGENT_TOKEN:-}" ] || { echo 'GPUAAS_AGENT_TOKEN holds no enrolment token' >&2; exit 2; }
token="$GPUAAS_AGENT_TOKEN"
unset GPUAAS_AGENT_TOKEN

# A host without the firmware tool still enrols; its readiness check then lists what is missing.
gpuaas-node-agent firmware --profile slice-vm --apply || echo 'the firmware was not set up' >&2
"${bootstrap[@]}" --apply
GPUAAS_AGENT_TOKEN="$token" gpuaas-node-agent install --server "$server" --hostname "$name"
case "$("${bootstrap[@]}")" in
  *"reboot_required: yes"*) echo 'Reboot this host: kernel arguments and device bindings hold from the next boot on.' ;;
esac
