# syntax=docker/dockerfile:1
# The worker, and the starter to start processes from beside it:
#   docker build --target worker -t process-idea-worker .
#   docker build --target starter -t process-idea-starter .
#   docker build --target gateway -t process-idea-gateway .

FROM golang:1.26.8 AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS=-trimpath
COPY go.mod go.sum ./
COPY internal/devserver/nocompute/go.mod internal/devserver/nocompute/
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# Nobody's: a volume takes over the owner of the folder that it is mounted on.
RUN mkdir -p /out/store

FROM build AS build-worker
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go build -ldflags="-s -w" -o /out/worker ./worker

FROM build AS build-gateway
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go build -ldflags="-s -w" -o /out/gateway ./gateway

# The starter holds an embedded Temporal server: its first build takes minutes.
FROM build AS build-starter
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go build -ldflags="-s -w" -o /out/starter ./starter

# Certificates, time zones and a user who is nobody; no shell, no package.
FROM gcr.io/distroless/static-debian12:nonroot AS starter
COPY --from=build-starter /out/starter /usr/bin/starter
COPY --from=build --chown=65532:65532 /out/store /store
COPY examples /examples
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/usr/bin/starter"]

FROM gcr.io/distroless/static-debian12:nonroot AS gateway
COPY --from=build-gateway /out/gateway /usr/bin/gateway
COPY --from=build --chown=65532:65532 /out/store /store
ENV PROCESSIDEA_STORE=/store PROCESSIDEA_GATEWAY=0.0.0.0:8300
EXPOSE 8300
USER 65532:65532
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/gateway"]

FROM gcr.io/distroless/static-debian12:nonroot AS worker
COPY --from=build-worker /out/worker /usr/bin/worker
COPY --from=build --chown=65532:65532 /out/store /store
ENV PROCESSIDEA_STORE=/store PROCESSIDEA_LISTEN=0.0.0.0:9464
EXPOSE 9464
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=6s --start-period=30s --retries=3 CMD ["/usr/bin/worker", "ready"]
ENTRYPOINT ["/usr/bin/worker"]
