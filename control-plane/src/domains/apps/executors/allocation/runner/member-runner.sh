#!/bin/sh
# The member runner: starts, observes and stops the members of app instances on one machine, as the user who runs it.
# POSIX sh with the tools of coreutils or of busybox; no root. Called as: sh runner <nonce> <verb> [member] [arguments].
# It prints one JSON object per line between "gpuaas <nonce> begin" and "gpuaas <nonce> end".
#
# ~/.gpuaas/members/<member>/
#   claim      who supervises the member: boot, process, start time, seconds since 1970. Made by link(2), so by one only.
#   process    the member's first process: boot, process, start time
#   exit       its exit status, and when it ended
#   oom        how often the kernel had killed for memory when the member was last seen alive
#   ports      ports that the member declares
#   work       its folder; log.<offset> its output from that byte on
# ~/.gpuaas/ended/<member>  the member was stopped and starts never again: 1 if it was forced, then its ports
umask 077
user_path=$PATH
PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin
root=$HOME/.gpuaas
nonce=$1
runner=$0
case $runner in /*) ;; *) runner=$PWD/$runner ;; esac

BLANK='                                                                               '
POLL=0.2

boot=-
if [ -r /proc/sys/kernel/random/boot_id ]; then read -r boot < /proc/sys/kernel/random/boot_id; fi

begin() { printf 'gpuaas %s begin\n' "$nonce"; }
finish() {
  printf 'gpuaas %s end\n' "$nonce"
  exit 0
}
fail() {
  printf '{"error":"%s"}\n' "$1"
  finish
}

# The reason in a message of a tool.
why() {
  case $1 in
    *'No space left'* | *'quota exceeded'* | *'File too large'*) echo disk_full ;;
    *'ermission denied'* | *'Read-only file system'* | *'not permitted'*) echo permissions ;;
    *'No such file'* | *'nonexistent'*) echo vanished ;;
    *) echo executor_error ;;
  esac
}

# Runs a command; its failure is the runner's.
try() { message=$(LC_ALL=C "$@" 2>&1) || fail "$(why "$message")"; }

# Makes a folder and enters it.
enter() {
  try mkdir -p "$1"
  cd "$1" 2> /dev/null && return 0
  if [ -d "$1" ]; then fail permissions; fi
  fail vanished
}

# Reads a process: state, session, ticks and began. Its name may contain anything, even line breaks and brackets.
look() {
  stat=
  while IFS= read -r part; do stat="$stat$part "; done < "/proc/$1/stat" || return 1
  [ -n "$stat" ] || return 1
  set -- ${stat##*) }
  state=$1 session=$4 ticks=$((${12} + ${13} + ${14} + ${15})) began=${20}
}

# Is it the same process as then? Numbers of processes are used again.
is_alive() {
  [ "$1" = "$boot" ] && look "$2" 2> /dev/null && [ "$began" = "$3" ] && [ "$state" != Z ] && [ "$state" != X ]
}

# A file can vanish at any moment: the tenant owns the folder.
size() {
  bytes=
  if [ -f "$1" ]; then bytes=$(wc -c < "$1" | tr -d ' '); fi 2> /dev/null
  echo "${bytes:-0}"
}

oom_kills() {
  kills=0
  while read -r name value; do
    if [ "$name" = oom_kill ]; then kills=$value; fi
  done < /proc/vmstat
} 2> /dev/null

# All processes once: those that a member's environment marks, and the session of each.
scan() {
  marks=$(grep -zEHo '^GPUAAS_(MEMBER|RUNNER)=[0-9a-f-]+$' /proc/[0-9]*/environ 2> /dev/null | tr '\0' '\n')
  sessions=$(cat /proc/[0-9]*/stat 2> /dev/null |
    sed -n 's/^\([0-9]*\) (.*) [RSDTtWIPK] [0-9]* [0-9]* \([0-9]*\) .*/\1:\2/p')
}

# Sets pids (the member's processes) and keepers (those of the runner that look after it) as of the last scan.
pids_of() {
  pids= keepers= first=
  for mark in $marks; do
    pid=${mark#/proc/}
    pid=${pid%%/*}
    case $mark in
      *":GPUAAS_MEMBER=$1") pids="$pids $pid" ;;
      *":GPUAAS_RUNNER=$1") keepers="$keepers $pid" ;;
    esac
  done
  [ -r "$root/members/$1/claim" ] || return 0
  process_boot= first= first_began= claim_boot= keeper= keeper_began=
  { read -r process_boot first first_began rest < "$root/members/$1/process"; } 2> /dev/null
  if [ -n "$first" ] && is_alive "$process_boot" "$first" "$first_began"; then add "$first"; fi
  { read -r claim_boot keeper keeper_began claimed < "$root/members/$1/claim"; } 2> /dev/null
  # A session outlives its leader. If the leader's number belongs to another process, so does the session.
  if [ "$claim_boot" != "$boot" ]; then return 0; fi
  if look "$keeper" 2> /dev/null && [ "$began" != "$keeper_began" ]; then return 0; fi
  for entry in $sessions; do
    if [ "${entry#*:}" = "$keeper" ]; then add "${entry%%:*}"; fi
  done
}

add() {
  case "$pids $keepers " in
    *" $1 "*) ;;
    *) pids="$pids $1" ;;
  esac
}

# Prints each listening port and its socket: "8080:12345".
listeners() {
  cat /proc/net/tcp /proc/net/tcp6 2> /dev/null | awk '$4 == "0A" { n = split($2, a, ":"); print a[n] ":" $10 }' |
    while IFS=: read -r port inode; do echo "$((0x$port)):$inode"; done
}

# Those of the given ports on which anything listens, as JSON.
taken() {
  found=
  open=$(listeners)
  for port in "$@"; do
    for entry in $open; do
      if [ "${entry%%:*}" = "$port" ]; then
        found="$found${found:+,}$port"
        break
      fi
    done
  done
  echo "[$found]"
}

# Ports on which these processes listen, as JSON.
ports_of() {
  found=
  [ $# -gt 0 ] || { echo '[]' && return 0; }
  folders=
  for pid in "$@"; do folders="$folders /proc/$pid/fd"; done
  sockets=$(ls -l $folders 2> /dev/null | sed -n 's/.*socket:\[\([0-9]*\)\].*/\1/p')
  for entry in $open; do
    for socket in $sockets; do
      if [ "$socket" = "${entry#*:}" ]; then
        case ",$found," in *",${entry%%:*},"*) ;; *) found="$found${found:+,}${entry%%:*}" ;; esac
      fi
    done
  done
  echo "[$found]"
}

memory_of() {
  total=0
  for pid in "$@"; do
    while read -r name value unit; do
      if [ "$name" = VmRSS: ]; then total=$((total + value)); fi
    done < "/proc/$pid/status"
  done 2> /dev/null
  echo $((total * 1024))
}

log_size() {
  last=0
  for file in "$root/members/$1"/log.*; do
    start=${file##*.}
    case $start in *[!0-9]* | '') continue ;; esac
    if [ "$start" -ge "$last" ]; then last=$start; fi
  done
  echo $((last + $(size "$root/members/$1/log.$last")))
}

# One member as of the last scan.
describe() {
  dir=$root/members/$1
  pids_of "$1"
  state_now=absent pid=null code=null ended=null oom=false began_at=null used=0
  if [ -r "$dir/claim" ]; then
    claimed= status= ended_at=
    { read -r claim_boot keeper keeper_began claimed < "$dir/claim"; } 2> /dev/null
    { read -r status ended_at < "$dir/exit"; } 2> /dev/null
    began_at=${claimed:-null} state_now=exited
  fi
  for one in $pids; do
    if look "$one" 2> /dev/null; then used=$((used + ticks)); fi
  done
  if [ -n "$pids$keepers" ]; then
    state_now=running
    for one in $pids; do
      pid=$one
      break
    done
    oom_kills
    if [ -w "$dir/oom" ]; then
      read -r seen < "$dir/oom"
      [ "$seen" = "$kills" ] || printf '%s \n' "$kills" 1<> "$dir/oom"
    fi 2> /dev/null
  elif [ "$state_now" = exited ] && [ -n "$status" ]; then
    code=$status ended=${ended_at:-null}
    if [ -e "$dir/oom-killed" ]; then oom=true; fi
  fi
  files=false
  if [ -e "$dir" ]; then files=true; fi
  printf '{"member":"%s","state":"%s","pid":%s,"status":%s,"ended":%s,"oom":%s,"started":%s,"ticks":%s,"memory":%s,"listening":%s,"files":%s,"log":%s}\n' \
    "$1" "$state_now" "$pid" "$code" "$ended" "$oom" "$began_at" "$used" \
    "$(memory_of $pids)" "$(ports_of $pids)" "$files" "$(log_size "$1")"
}

observe_one() {
  scan
  open=$(listeners)
  describe "$1"
}

verb_probe() {
  missing=
  for tool in awk cat cut date dd grep head ln ls mkfifo mv rm sed setsid sha256sum sleep tail tar tr wc; do
    command -v "$tool" > /dev/null 2>&1 || missing="$missing${missing:+,}\"$tool\""
  done
  [ -r /proc/self/stat ] || missing="$missing${missing:+,}\"/proc\""
  try mkdir -p "$root/members" "$root/ended"
  has() { if PATH=$user_path command -v "$1" > /dev/null 2>&1; then echo true; else echo false; fi; }
  free=$(df -Pk "$root" 2> /dev/null | awk 'NR == 2 { printf "%.0f", $4 * 1024 }')
  memory=$(awk '$1 == "MemTotal:" { printf "%.0f", $2 * 1024 }' /proc/meminfo 2> /dev/null)
  processors=$(grep -c '^processor' /proc/cpuinfo 2> /dev/null)
  printf '{"uid":%s,"processors":%s,"memory":%s,"disk":%s,"missing":[%s],"node":%s,"podman":%s,"nvidia":%s}\n' \
    "$(id -u)" "${processors:-0}" "${memory:-0}" "${free:-0}" "$missing" \
    "$(has node)" "$(has podman)" "$(has nvidia-smi)"
}

verb_observe() {
  scan
  open=$(listeners)
  for folder in "$root"/members/*; do
    member=${folder##*/}
    case $member in *[!0-9a-f-]* | '') continue ;; esac
    [ -d "$folder" ] && describe "$member"
  done
  # A tenant can delete the folder, but the processes stay what they are.
  told=
  for mark in $marks; do
    member=${mark##*=}
    if [ ! -d "$root/members/$member" ]; then
      case " $told " in *" $member "*) ;; *) describe "$member" ;; esac
      told="$told $member"
    fi
  done
  if PATH=$user_path command -v nvidia-smi > /dev/null 2>&1; then
    limit=
    if command -v timeout > /dev/null 2>&1; then limit='timeout 10'; fi
    PATH=$user_path $limit nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv,noheader,nounits 2> /dev/null |
      head -n 64 | tr -d ' ' | while IFS=, read -r index use memory; do
      case "$index$use$memory" in *[!0-9]* | '') continue ;; esac
      printf '{"gpu":%s,"use":%s,"memory":%s}\n' "${index:-0}" "${use:-0}" "${memory:-0}"
    done
  fi
}

# payload <member> <sha256> <bytes> <tar|file>: the content comes on stdin and becomes the member's folder.
verb_payload() {
  enter "$root/members/$1"
  if [ -e work ]; then
    cat > /dev/null
    return 0
  fi
  message=$(LC_ALL=C cat 2>&1 > "payload.$$") || { rm -f "payload.$$" && fail "$(why "$message")"; }
  [ -e "payload.$$" ] || fail vanished
  if [ "$(size "payload.$$")" != "$3" ] || [ "$(sha256sum < "payload.$$" | cut -c1-64)" != "$2" ]; then
    rm -f "payload.$$"
    fail digest_mismatch
  fi
  try mkdir "work.$$"
  if [ "$4" = tar ]; then
    compressed=
    if [ "$(head -c 2 "payload.$$" | od -An -tx1 | tr -d ' ')" = 1f8b ]; then compressed=z; fi
    message=$(LC_ALL=C tar -x${compressed}f "payload.$$" -C "work.$$" 2>&1) || {
      reason=$(why "$message")
      # An archive can also name a file that it does not have.
      if [ "$reason" = vanished ] && [ -e "payload.$$" ]; then reason=executor_error; fi
      rm -rf "payload.$$" "work.$$"
      fail "$reason"
    }
    rm -f "payload.$$"
  else
    try chmod 700 "payload.$$"
    try mv "payload.$$" "work.$$/payload"
  fi
  use_folder "work.$$"
}

# The first of several that were made is the member's.
use_folder() { ln -s "$1" work 2> /dev/null || rm -rf "$1"; }

# start <member> <log bytes> [ports]: the specification comes on stdin.
verb_start() {
  member=$1 log_bytes=$2
  shift 2
  dir=$root/members/$member
  if [ -e "$root/ended/$member" ]; then fail ended; fi
  if [ -e "$dir/claim" ]; then
    cat > /dev/null
    observe_one "$member"
    return 0
  fi
  enter "$dir"
  if [ "$(taken "$@")" != '[]' ]; then fail port_taken; fi
  message=$(LC_ALL=C cat 2>&1 > "spec.$$") || { rm -f "spec.$$" && fail "$(why "$message")"; }
  if [ ! -e work ]; then
    try mkdir "work.$$"
    use_folder "work.$$"
  fi
  # Written over in place later, so that a full disk cannot hide how the member ended.
  oom_kills
  for entry in "process:$BLANK" "exit:$BLANK" "oom:$kills$BLANK" "ports:$*" "claim.$$:$BLANK"; do
    file=${entry%%:*}
    [ -e "$file" ] && continue
    message=$( (LC_ALL=C printf '%s\n' "${entry#*:}" > "$file") 2>&1) || fail "$(why "$message")"
  done
  GPUAAS_RUNNER=$member PATH=$user_path setsid sh "$runner" - supervise "$member" $$ "$log_bytes" \
    < /dev/null > /dev/null 2>&1 &
  candidate=$!
  waited=0
  while [ $waited -lt 150 ]; do
    first=
    { read -r first rest < process; } 2> /dev/null
    [ -n "$first" ] && break
    # It lost the race for the claim, or could not make one.
    if ! kill -0 $candidate 2> /dev/null && [ ! -e claim ]; then
      if [ ! -e ports ] || [ ! -e "$runner" ]; then fail vanished; fi
      rm -f "spec.$$" "claim.$$"
      fail not_started
    fi
    sleep $POLL
    waited=$((waited + 1))
  done
  observe_one "$member"
}

# supervise <member> <number of the start> <log bytes>: runs as the leader of the member's session, until the member has ended and its
# output is written down.
verb_supervise() {
  member=$1 spec=spec.$2 claim=claim.$2 log_bytes=$3
  trap '' HUP TERM
  cd "$root/members/$member" || exit 1
  look $$ || exit 1
  now=$(date +%s)
  printf '%s %s %s %s ' "$boot" $$ "$began" "$now" 1<> "$claim" && ln "$claim" claim 2> /dev/null
  won=$?
  rm -f "$claim"
  # A stop that came first has left its mark; one that comes later finds this process.
  if [ $won != 0 ] || [ -e "$root/ended/$member" ]; then
    rm -f "$spec"
    exit 0
  fi
  reset=
  # The shell that put this into the background made it ignore these.
  if env --default-signal=INT,QUIT true 2> /dev/null; then reset="$(command -v env) --default-signal=INT,QUIT"; fi
  rm -f pipe
  mkfifo pipe || exit 1
  copy_log $((log_bytes / 2)) < pipe &
  (
    trap - HUP TERM
    read -r pid rest < /proc/self/stat
    look "$pid"
    printf '%s %s %s \n' "$boot" "$pid" "$began" 1<> process
    exec 8< "$spec"
    rm -f "$spec" pipe
    cd work || exit 126
    PATH=$user_path
    unset GPUAAS_RUNNER
    . /proc/self/fd/8
    exec 8<&-
    case $1 in *=*) exec "$@" ;; esac
    exec $reset "$@"
  ) > pipe 2>&1
  status=$?
  oom_kills
  seen=0
  read -r seen rest < oom
  if [ $status = 137 ] && [ "$kills" -gt "${seen:-0}" ] && [ ! -e "$root/ended/$member" ]; then : > oom-killed; fi
  printf '%s %s \n' "$status" "$(date +%s)" 1<> exit
  wait
}

# Keeps the last bytes of stdin: one full file and the one being written. Reads on if the disk is full, so that the
# member never waits for its log.
copy_log() {
  part=$1 start=0 previous= before=0
  while :; do
    if dd bs=16384 count=128 >> "log.$start" 2> /dev/null; then
      after=$(size "log.$start")
      if [ "$after" = "$before" ]; then break; fi
      before=$after
      if [ "$after" -ge "$part" ]; then
        if [ -n "$previous" ]; then rm -f "log.$previous"; fi
        previous=$start start=$((start + after)) before=0
      fi
    else
      case $(LC_ALL=C dd bs=16384 count=128 2>&1 > /dev/null) in '0+0 records in'*) break ;; esac
      before=$(size "log.$start")
    fi
  done
}

# stop <member> <seconds>: asks its processes to end, and ends them after that time.
verb_stop() {
  member=$1 rounds=$(($2 * 5)) forced_now=
  try mkdir -p "$root/ended"
  declared_ports "$member"
  mark_ended "$member" 0 || [ -e "$root/ended/$member" ] || fail "$(why "$message")"
  scan
  pids_of "$member"
  send TERM $pids
  waited=0
  while [ -n "$pids" ] && [ $waited -lt $rounds ]; do
    sleep $POLL
    waited=$((waited + 1))
    scan
    pids_of "$member"
  done
  # A process that is stopped gets no other signal.
  if [ -n "$pids" ]; then
    forced_now=1
    mark_ended "$member" 1
  fi
  waited=0
  while [ -n "$pids$keepers" ] && [ $waited -lt 50 ]; do
    send KILL $pids
    if [ -z "$pids" ] && [ $waited -gt 10 ]; then send KILL $keepers; fi
    sleep $POLL
    waited=$((waited + 1))
    scan
    pids_of "$member"
  done
  evidence "$member"
}

declared_ports() {
  ports=
  if [ -r "$root/members/$1/ports" ]; then read -r ports < "$root/members/$1/ports"; fi
}

# mark_ended <member> <forced>. A full disk still takes an empty file: it is the mark until there is room for the rest,
# so that a member can be stopped although the disk is full.
mark_ended() {
  if [ ! -s "$root/ended/$1" ]; then
    message=$( (LC_ALL=C printf '%s %s\n' "$2" "$ports" > "$root/ended/$1") 2>&1)
  elif [ "$2" = 1 ]; then
    printf '1' 1<> "$root/ended/$1"
  fi
}

send() {
  signal=$1
  shift
  for pid in "$@"; do kill -s "$signal" "$pid"; done 2> /dev/null
}

# remove <member>: its files, once it has no process.
verb_remove() {
  forced_now=
  declared_ports "$1"
  scan
  pids_of "$1"
  if [ -z "$pids$keepers" ]; then
    rm -rf "$root/members/$1" 2> /dev/null || {
      chmod -R u+rwx "$root/members/$1"
      rm -rf "$root/members/$1"
    } 2> /dev/null
    # Its files made room.
    if [ -e "$root/ended/$1" ]; then mark_ended "$1" 0; fi
  fi
  evidence "$1"
}

evidence() {
  count=0 forced=0 files=false
  for pid in $pids $keepers; do count=$((count + 1)); done
  if [ -s "$root/ended/$1" ]; then read -r forced ports < "$root/ended/$1"; fi
  forced=${forced_now:-$forced}
  if [ -e "$root/members/$1" ]; then files=true; fi
  if [ "$forced" = 1 ]; then forced=true; else forced=false; fi
  printf '{"processes":%s,"ports":%s,"files":%s,"forced":%s}\n' $count "$(taken $ports)" $files $forced
}

# logs <member> <offset> <bytes>: a header, then that many bytes of one file.
verb_logs() {
  cd "$root/members/$1" 2> /dev/null || { printf '{"offset":%s,"length":0,"size":0}\n' "$2" && exit 0; }
  total=$(log_size "$1")
  chosen= oldest=
  for file in log.*; do
    start=${file#log.}
    case $start in *[!0-9]* | '') continue ;; esac
    if [ -z "$oldest" ] || [ "$start" -lt "$oldest" ]; then oldest=$start; fi
    if [ "$start" -le "$2" ] && { [ -z "$chosen" ] || [ "$start" -gt "$chosen" ]; }; then chosen=$start; fi
  done
  offset=$2
  if [ -z "$chosen" ]; then chosen=${oldest:-0} offset=${oldest:-$2}; fi
  length=$((chosen + $(size "log.$chosen") - offset))
  if [ $length -lt 0 ]; then length=0; fi
  if [ $length -gt "$3" ]; then length=$3; fi
  printf '{"offset":%s,"length":%s,"size":%s}\n' "$offset" $length "$total"
  if [ $length -gt 0 ]; then tail -c +$((offset - chosen + 1)) "log.$chosen" | head -c $length; fi
  exit 0
}

verb=$2
shift 2
case $verb in
  supervise) verb_supervise "$@" ;;
  probe | observe | payload | start | stop | remove | logs)
    begin
    "verb_$verb" "$@"
    finish
    ;;
  *)
    begin
    fail unknown_verb
    ;;
esac
