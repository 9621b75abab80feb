#!/bin/sh
# Carries one message to an agent: courier.sh <message> <directory>. It goes whole, even if the server dies meanwhile,
# because a client was seen to exit at half a line. The claim sees to it that no message goes twice.
mkdir "$1.claim" 2>/dev/null || exit 0
cat "$1" >>"$2/sent"
cat "$1" >"$2/stdin" && mkdir "$1.delivered"
