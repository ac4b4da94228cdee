# Two images: the application (the default target) and its proxy (`--target nginx`). compose.yaml runs
# both.

FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3-venv
WORKDIR /srv/oracle/current
COPY requirements.txt ./
RUN python3 -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check --require-hashes -r requirements.txt \
    && .venv/bin/pip uninstall --yes pip
COPY manage.py pyproject.toml LICENSE ./
COPY audit audit
COPY drill drill
COPY oracle_site oracle_site
COPY sandbox sandbox
COPY static static
COPY templates templates
COPY verdicts verdicts
COPY deploy/container deploy/container
# Compiled here, because the code is read-only at run time. By hash: images round file times.
RUN .venv/bin/python -W ignore -m compileall -q -j 0 --invalidation-mode unchecked-hash .

FROM debian:trixie-slim AS nginx
RUN apt-get update && apt-get install --yes --no-install-recommends nginx openssl \
    && rm -rf /var/lib/apt/lists/* /etc/nginx/sites-enabled/* \
    && install -d /var/log/oracle /etc/oracle/tls \
    && install -d -o 10001 -g www-data -m 0750 /run/oracle /run/oracle-reader \
    && ln -s /dev/stdout /var/log/oracle/access.log \
    && ln -s /dev/stderr /var/log/oracle/error.log \
    && ln -sf /dev/stderr /var/log/nginx/error.log
COPY deploy/nginx/nginx.conf /etc/nginx/nginx.conf
COPY deploy/nginx/oracle.conf /etc/nginx/conf.d/oracle.conf
COPY deploy/container/sandbox.conf /etc/nginx/sandbox.conf
COPY deploy/container/run-nginx /usr/local/bin/run-nginx
EXPOSE 80 443
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD \
    printf 'GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n' \
    | openssl s_client -quiet -connect 127.0.0.1:443 2>/dev/null | grep -q '^HTTP/1.1 200'
STOPSIGNAL SIGQUIT
CMD ["run-nginx"]

FROM debian:trixie-slim
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates python3 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --gid www-data --home-dir /srv/oracle --no-create-home oracle \
    && install -d -o oracle -g www-data -m 0700 /srv/oracle/data \
    && install -d -o oracle -g www-data -m 0750 /run/oracle /run/oracle-reader
COPY --from=build /srv/oracle/current /srv/oracle/current
WORKDIR /srv/oracle/current
ENV DATABASE_URL=sqlite:////srv/oracle/data/oracle.sqlite3 \
    ORACLE_LOG_PATH=/srv/oracle/data/oracle_log.jsonl \
    ORACLE_STATIC_PATH=/srv/oracle/data/static \
    ORACLE_BIND=0.0.0.0
USER oracle
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD [".venv/bin/python", "deploy/container/healthcheck.py"]
ENTRYPOINT ["deploy/container/run"]
CMD ["web"]
