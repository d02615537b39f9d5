#!/bin/bash
# The machine's own tcpdump, as a user with root's rights
# As root it gives each file of a capture to another user, and ends if the file belongs to an ordinary user of the machine.
rights=+net_admin,+net_raw,+dac_override
as_user=(setpriv --reuid=65534 "--inh-caps=$rights" "--ambient-caps=$rights")
command -v setpriv > /dev/null || as_user=()
PATH=${PATH//"${0%/*}:"/}
exec "${as_user[@]}" tcpdump "$@"
