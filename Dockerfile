# An image that parses and serves: headspan with the extra `serve`, without torch.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /opt/headspan \
 && /opt/headspan/bin/pip install --no-cache-dir --constraint constraints.txt '.[serve]'

FROM python:3.12-slim
COPY --from=build /opt/headspan /opt/headspan
RUN useradd --create-home --uid 1000 headspan
USER 1000
# Compile the loops now instead of at the first request.
RUN /opt/headspan/bin/headspan parse "Hello there." --confidence
EXPOSE 8000
ENTRYPOINT ["/opt/headspan/bin/headspan"]
# Whoever may connect may parse: publish the port with care, and set HEADSPAN_TOKEN.
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
