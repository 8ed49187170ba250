# Reads files of the host: by path, through links, through /proc.
try() { if "$@" 2>/dev/null | grep -q secret; then echo "ESCAPED: $*"; else echo "held: $*"; fi; }
try cat "$OUTSIDE"
try cat "/proc/1/root$OUTSIDE"
try cat "/proc/self/root$OUTSIDE"
try cat "/proc/self/cwd/../../../../../..$OUTSIDE"
ln -s "$OUTSIDE" link && try cat link
ln -s / top && try cat "top$OUTSIDE"
ln "$OUTSIDE" hard 2>/dev/null && try cat hard
rm -f link top hard
for path in /etc/shadow /root /home /boot /sys /var /mnt; do
  if [ -e "$path" ]; then echo "ESCAPED: $path is visible"; else echo "held: $path"; fi
done
