import sys

from fastmcp import FastMCP

server = FastMCP("bench")


@server.tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


if sys.argv[1] == "stdio":
    server.run("stdio", show_banner=False)
else:
    server.run(
        "http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, stateless_http=True, json_response=True
    )
