# See docs/operations.md. Everything that lasts is in /data. The first start, not the
# build, prepares the databases there, because a volume hides what an image has in /data.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The packages have a Node.js of their own, 189 MB, of the version that the base has already. Nobody reads
# half of the files of systems.
RUN npm ci --omit=dev && rm -r node_modules/node-linux-* node_modules/@ip-location-db/asn/*-num.csv

# Litestream's source with this checksum, and everything that it imports by its own go.sum.
FROM --platform=$BUILDPLATFORM golang:1.26.10-bookworm AS litestream
ARG TARGETARCH LITESTREAM=v0.5.18 SUM=h1:kelmbbFQvlgrm8dRrpt9bqvDrJ69OgWQca8hSflNF2U=
RUN go mod download -json "github.com/benbjohnson/litestream@$LITESTREAM" | grep --fixed-strings "\"Sum\": \"$SUM\"" && \
  cd "$(go env GOMODCACHE)/github.com/benbjohnson/litestream@$LITESTREAM" && \
  CGO_ENABLED=0 GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X main.Version=$LITESTREAM" -o /litestream ./cmd/litestream

FROM node:24.21.0-bookworm-slim
ARG REVISION
LABEL org.opencontainers.image.title="Meridian" \
  org.opencontainers.image.description="Self-hosted IP geolocation API in one process and one SQLite file" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.licenses="MIT"
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates tini && \
  rm -r /var/lib/apt/lists/*
COPY --from=litestream /litestream /usr/local/bin/
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 MERIDIAN_DATA_DIR=/data NODE_COMPILE_CACHE=/var/cache/meridian
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY . .
# A server on the machine that builds this image may have closed its data folder.
RUN chmod a+rX data data/plans.json && \
  install --directory --owner=1000 --group=1000 --mode=0700 /data "$NODE_COMPILE_CACHE"
# A number: Kubernetes cannot tell whether a name is root's (runAsNonRoot).
USER 1000:1000
# Keeps the compiled code. A start compiles again only if its processor differs much from this one.
RUN scripts/node.sh scripts/parts/compile.ts
VOLUME /data
EXPOSE 8787
STOPSIGNAL SIGTERM
# The first start unpacks databases before it answers. bash opens the connection: a Node.js would
# cost 40 MB and half a second of the processor each time.
HEALTHCHECK --interval=15s --timeout=5s --start-period=180s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /health/ready HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
# As process 1, Node would ignore the signals of its first moments. tini passes them on.
ENTRYPOINT ["tini", "--"]
CMD ["sh", "-c", "[ -z \"${LITESTREAM_REPLICA_URL:-}\" ] || exec scripts/with-litestream.sh; exec scripts/node.sh server.ts"]
