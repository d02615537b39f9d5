# Netmasks and lengths of prefixes: functions of the replacements of ifconfig and route
mask_in_awk='
    function mask(bits,   text, i, byte) {
        for (i = 0; i < 4; i++) {
            byte = bits >= 8 ? 255 : bits <= 0 ? 0 : 256 - 2 ^ (8 - bits)
            text = text (i ? "." : "") byte
            bits -= 8
        }
        return text
    }'
length_of() {
    bits=0
    for part in $(echo "$1" | tr . ' '); do
        case $part in *[!0-9]*) reject "netmask $1" ;; esac
        while [ "$part" -gt 0 ]; do bits=$((bits + part % 2)); part=$((part / 2)); done
    done
    echo $bits
}
by_class() { first=${1%%.*}; if [ "$first" -lt 128 ]; then echo 8; elif [ "$first" -lt 192 ]; then echo 16; else echo 24; fi; }
