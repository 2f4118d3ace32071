#!/bin/bash
# --- Start MAAS 1.0 script metadata ---
# name: 50-gpuaas-slice-firmware-preflight
# title: GPUaaS firmware preflight
# description: Looks whether the firmware is set up for what GPUaaS is going to sell this machine as. Changes nothing.
# script_type: commissioning
# tags: gpuaas
# timeout: 00:05:00
# parameters:
#   profile:
#     type: string
#     argument_format: --profile={input}
#     required: false
#     default: none
# --- End MAAS 1.0 script metadata ---

# Runs in MAAS's commissioning environment. The platform passes the profile that was chosen at the import; any other
# commissioning passes none, and nothing is asked of the machine. GPUAAS_ROOT stands for / in tests.
set -u
shopt -s nullglob
root="${GPUAAS_ROOT:-}"
profile=none
for word in "$@"; do
  case "$word" in
    --profile=*) profile="${word#--profile=}" ;;
    *) echo "unknown option $word" >&2; exit 2 ;;
  esac
done

missing=0
ok() { echo "ok    $1"; }
miss() { echo "MISS  $1"; echo "      -> $2"; missing=$((missing + 1)); }
content() { cat "$1" 2>/dev/null; }

check_uefi() {
  if [ -d "$root/sys/firmware/efi" ]; then ok "booted by UEFI"
  else miss "not booted by UEFI" "Set the firmware to UEFI boot, and the machine's boot method in MAAS."; fi
}

check_gpus() {
  local found=0 device
  for device in "$root"/sys/bus/pci/devices/*; do
    [ "$(content "$device/vendor")" = 0x10de ] || continue
    case "$(content "$device/class")" in 0x0300* | 0x0302*) found=$((found + 1)) ;; esac
  done
  if [ "$found" -gt 0 ]; then ok "$found GPUs"
  else miss "no GPU on the PCI bus" "Look at the power of the GPU board and at its slots in the firmware."; fi
}

# The firmware's own table, because the kernel of the commissioning environment does not use it.
check_iommu() {
  if [ -e "$root/sys/firmware/acpi/tables/DMAR" ] || [ -e "$root/sys/firmware/acpi/tables/IVRS" ]; then
    ok "the firmware describes an IOMMU"
  else miss "the firmware describes no IOMMU" "Enable VT-d (AMD-Vi) in the firmware."; fi
}

check_virtualization() {
  if grep -qE '^flags[[:space:]]*:.*[[:space:]](vmx|svm)([[:space:]]|$)' "$root/proc/cpuinfo"; then
    ok "the processors run virtual machines"
  else miss "virtualization is off" "Enable VT-x (AMD-V) in the firmware."; fi
}

check_secure_boot() {
  local variable state=""
  # Four bytes of attributes, then the value.
  for variable in "$root"/sys/firmware/efi/efivars/SecureBoot-*; do
    state="$(od -An -tu1 -j4 -N1 "$variable" | tr -d ' ')"
  done
  if [ "$state" = 1 ]; then miss "Secure Boot is on" "Switch it off in the firmware: the modules of slices are not signed."
  else ok "Secure Boot is off"; fi
}

check_sriov() {
  local adapters=0 device total
  local without=()
  for device in "$root"/sys/bus/pci/devices/*; do
    [ "$(content "$device/vendor")" = 0x15b3 ] && [ ! -e "$device/physfn" ] || continue
    case "$(content "$device/class")" in 0x0200* | 0x0207*) ;; *) continue ;; esac
    adapters=$((adapters + 1))
    total="$(content "$device/sriov_totalvfs")"
    [ "${total:-0}" -gt 0 ] || without+=("${device##*/}")
  done
  if [ "$adapters" -eq 0 ]; then miss "no fabric adapter" "Install adapters, or look at the PCI bus."
  elif [ "${#without[@]}" -gt 0 ]; then
    # Not a reason to refuse the machine: the host sets it when it is installed.
    echo "later ${#without[@]} of $adapters adapters have no virtual functions yet: ${without[*]}"
  else ok "$adapters adapters can have virtual functions"; fi
}

case "$profile" in
  none) echo "no profile was chosen; nothing is checked"; exit 0 ;;
  slice-vm) checks="uefi gpus iommu virtualization secure_boot sriov" ;;
  baremetal) checks="uefi gpus" ;;
  *) echo "unknown profile $profile; slice-vm and baremetal are known" >&2; exit 2 ;;
esac
for check in $checks; do "check_$check"; done
echo "profile $profile: $missing missing"
[ "$missing" -eq 0 ]
