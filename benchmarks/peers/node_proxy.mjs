// A Node proxy in front of an API, as in the requirement documents, with keep-alive connections.
// LISTEN is its own port, API that of the upstream.
import http from "node:http";

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const upstream = { host: "127.0.0.1", port: Number(process.env.API), agent };

http
  .createServer((request, response) => {
    const proxied = http.request({ ...upstream, path: request.url, method: request.method }, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    proxied.on("error", () => response.writeHead(502).end());
    proxied.end();
  })
  .listen(Number(process.env.LISTEN), "127.0.0.1");
