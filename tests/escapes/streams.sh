# What must work in spite of all walls.
echo text > /dev/stderr
echo text > /dev/null
echo text > /tmp/file && cat /tmp/file > /dev/null && rm /tmp/file
(exit 3); [ $? = 3 ] || echo "ESCAPED: processes"
mkdir -p a/b && touch a/b/c && mv a/b/c a/d && rm -r a
printf '#!/bin/sh\necho held: a script of its own\n' > script && chmod +x script && ./script && rm script
sleep 0.01 & wait && echo "held: processes in the background"
