#!/bin/sh
# Runs a program as a container runtime would: in a root folder, with its own processes, name, mounts and /tmp, as a user
# without any rights. It shares only the network. Root starts it.
#   unshare --mount --uts --ipc --pid --fork sh container.sh <root> <name> <hosts> <ro|rw> <user> <mount>… -- <program>…
# A mount is <folder>:<path in it>:<ro|rw>.
set -eu
root=$1 name=$2 hosts=$3 mode=$4 user=$5
shift 5
hostname "$name"
mount --make-rprivate /
# A root of its own, so that the mounts below it end with it.
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  from=${1%%:*} rest=${1#*:}
  at=$root${rest%:*}
  mount --bind "$from" "$at"
  [ "${rest##*:}" = rw ] || mount -o remount,bind,ro "$at"
  shift
done
shift
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$hosts" "$root/etc/hosts"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
[ "$mode" = rw ] || mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --reuid="${user%:*}" --regid="${user#*:}" --clear-groups --no-new-privs \
  --bounding-set=-all --inh-caps=-all -- env --ignore-environment --chdir=/data "$@"
