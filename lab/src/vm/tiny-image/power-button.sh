#!/bin/sh
echo "tiny: power button" > /dev/console
sync
poweroff
