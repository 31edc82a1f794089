#!/bin/sh
# Starts the mediasoup worker of $TRUNKLINE_MEDIASOUP_WORKER in a session of its own. Ctrl+C in a terminal
# signals the whole foreground group. The worker would end at once, and calls would be silent while they end.
if command -v setsid >/dev/null; then exec setsid "$TRUNKLINE_MEDIASOUP_WORKER" "$@"; fi
exec "$TRUNKLINE_MEDIASOUP_WORKER" "$@"
