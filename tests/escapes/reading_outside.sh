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
# Directories above what is granted are there, and show the way to it alone.
attempts=$(dirname "$0")
leads_inside() {
  for granted in "$PWD" "$READ_ONLY" "$attempts"; do
    case "$granted/" in "$1"/*) return 0 ;; esac
  done
  return 1
}
look() {
  if [ ! -e "$1" ]; then echo "held: $1"; return; fi
  if ! leads_inside "$1"; then echo "ESCAPED: $1 is visible"; return; fi
  case "$1" in "$PWD" | "$READ_ONLY" | "$attempts") return ;; esac
  ls -A "$1" | while read -r entry; do look "$1/$entry"; done
}
for path in /etc/shadow /root /home /boot /sys /var /mnt /opt /srv; do look "$path"; done
