// node in front of an API, as the documents have it: keeps its connections and passes the answer on.
// LISTEN is the port to answer at, API the port of what is behind.
import http from "node:http";

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const behind = { host: "127.0.0.1", port: Number(process.env.API), agent };

http
  .createServer((request, response) => {
    const asked = http.request({ ...behind, path: request.url, method: request.method }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    asked.on("error", () => response.writeHead(502).end());
    asked.end();
  })
  .listen(Number(process.env.LISTEN), "127.0.0.1");
