#!/bin/sh
# Carries one message to an agent: courier.sh <message> <directory>. It sends the whole message even if the server dies,
# because a client was seen to exit at half a line. Because of the claim, no message is sent twice.
mkdir "$1.claim" 2>/dev/null || exit 0
cat "$1" >>"$2/sent"
# With images the client gets a longer line than the transcript.
whole=$1
[ ! -e "$1.whole" ] || whole=$1.whole
cat "$whole" >"$2/stdin" && mkdir "$1.delivered" && rm -f "$1.whole"
