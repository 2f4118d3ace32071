#!/bin/sh
case $1 in
  deconfig)
    ip addr flush dev $interface
    ip link set $interface up
    ;;
  bound | renew)
    ip addr add $ip/${mask:-24} dev $interface 2> /dev/null
    [ -n "$router" ] && ip route replace default via ${router%% *} dev $interface
    : > /etc/resolv.conf
    for server in $dns; do echo "nameserver $server" >> /etc/resolv.conf; done
    echo "tiny: address $ip" > /dev/console
    ;;
esac
