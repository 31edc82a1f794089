# syntax=docker/dockerfile:1
# Two stages: the first has npm, all packages and, if needed, compilers; the second has only the files that run. The Debian package has the
# same files (scripts/installation/tree.ts). test/scenarios/image.test.ts runs each step of this file.
#
#   docker build -t trunkline .
#   docker run --network host -v trunkline-data:/var/lib/trunkline -v ./etc:/etc/trunkline:ro trunkline
#
# with the configuration in etc/trunkline.yaml. Mount the folder: if only the file is mounted and an editor replaces it, the container keeps the old one.

# One exact version of Node, the one of package.json; docs/operations.md describes how to raise it and to pin it by digest.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /opt/trunkline

# Packages first: they change less often than the code. The worker is scripts/worker's task, so mediasoup's own script does nothing.
COPY package.json package-lock.json .npmrc ./
COPY sip-agent/package.json sip-agent/
COPY media/package.json media/
COPY client/package.json client/
COPY realtime/package.json realtime/
COPY console/package.json console/
COPY react/package.json react/
RUN MEDIASOUP_WORKER_BIN=later npm ci --no-audit --no-fund --loglevel=error

# The prebuilt worker if it can be downloaded, else a worker that is built here, both at the same path. Only a build needs apt-get. The media
# threads' sockets are compiled into media/edge/native, and the composer of pictures into media/compose/native.
COPY scripts/worker scripts/worker
COPY scripts/worker-build scripts/worker-build
COPY media/edge/native media/edge/native
COPY media/compose/native media/compose/native
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev libvpx-dev libyuv-dev \
  && XDG_CACHE_HOME=/opt/cache scripts/worker >/opt/worker-path \
  && install -D -m 755 "$(cat /opt/worker-path)" /opt/worker/mediasoup-worker \
  && rm -rf /opt/cache /var/lib/apt/lists/*

# .dockerignore leaves out tests and built files. The installation has only the files that run, and the image's own Node: it is the same
# version as that of package.json, and one copy is enough.
COPY . .
RUN npm run --silent build \
  && scripts/docs \
  && node --disable-warning=ExperimentalWarning scripts/installation/main.ts /opt/installation /opt/worker/mediasoup-worker /usr/local/bin/node


FROM ${NODE_IMAGE}
# A worker built against Debian's libraries needs the first four; a prebuilt one needs none of them. The composer needs libvpx and libyuv.
# All are small.
RUN apt-get update \
  && apt-get install -y --no-install-recommends libssl3 libuv1 libsrtp2-1 libabsl20220623 libvpx7 libyuv0 tini \
  && rm -rf /var/lib/apt/lists/* /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn* \
  && install -d -o node -g node /var/lib/trunkline /var/cache/trunkline /etc/trunkline \
  && printf '#!/bin/sh\nexec /opt/trunkline/scripts/trunkline "$@"\n' >/usr/local/bin/trunkline \
  && chmod 755 /usr/local/bin/trunkline

WORKDIR /opt/trunkline
COPY --from=build /opt/installation ./

ARG REVISION=unknown
LABEL org.opencontainers.image.title=trunkline \
  org.opencontainers.image.revision=${REVISION} \
  org.opencontainers.image.description="A carrier edge in one daemon: SIP trunks in, programmable calls, browser subscribers out"

ENV NODE_ENV=production TRUNKLINE_HEALTH=http://127.0.0.1:8080/healthz \
  NODE_COMPILE_CACHE=/var/cache/trunkline
USER node
# Store, keys and the self-signed certificate: `dataDir: /var/lib/trunkline` in the configuration.
VOLUME /var/lib/trunkline
# Compiled code, which halves the time of a start. It is no part of a backup.
VOLUME /var/cache/trunkline
# SIP; HTTP and HTTPS; WebRTC. The RTP range (20000 to 29999 by default) is wide: prefer the host's network to publishing it.
EXPOSE 5060/udp 5060/tcp 8080/tcp 8443/tcp 44444/udp 44444/tcp
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["scripts/healthcheck"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "scripts/trunkline"]
CMD ["run", "/etc/trunkline/trunkline.yaml"]
