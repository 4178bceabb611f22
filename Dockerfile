# See docs/operations.md. Everything that lasts is in /data. The first start, not the
# build, prepares the databases there, because a volume hides what an image has in /data.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:24.21.0-bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends tini && rm -r /var/lib/apt/lists/*
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 MERIDIAN_DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY . .
# A server on the machine that builds this image may have closed its data folder.
RUN chmod a+rX data data/plans.json && \
  install --directory --owner=node --group=node --mode=0700 /data
USER node
# Keeps the compiled code. A start compiles again only if its processor differs much from this one.
RUN scripts/node.sh scripts/parts/compile.ts
VOLUME /data
EXPOSE 8787
STOPSIGNAL SIGTERM
# The first start unpacks databases before it answers.
HEALTHCHECK --interval=15s --timeout=5s --start-period=180s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As process 1, Node would ignore the signals of its first moments. tini passes them on.
ENTRYPOINT ["tini", "--"]
CMD ["scripts/node.sh", "server.ts"]
