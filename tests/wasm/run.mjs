// Runs the module in this node and in Chromium, against a server that has every kind of bad day.
//
// node run.mjs FOLDER_FOR_NODE FOLDER_FOR_THE_WEB [CHROMIUM]
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { check } from "./check.mjs";

const [node, web, chromium] = process.argv.slice(2);
const asked = new Map();
let told;
const files = {
  "/": ["text/html", "<!doctype html><script type=module src=/page.mjs></script>"],
  "/page.mjs": ["text/javascript", readFileSync(new URL("page.mjs", import.meta.url))],
  "/check.mjs": ["text/javascript", readFileSync(new URL("check.mjs", import.meta.url))],
  "/tests.js": ["text/javascript", readFileSync(join(web, "tests.js"))],
  "/tests_bg.wasm": ["application/wasm", readFileSync(join(web, "tests_bg.wasm"))],
};

const server = createServer((request, response) => {
  const path = request.url;
  // On a connection that was kept Chromium sends again by itself what was reset.
  response.setHeader("connection", "close");
  if (files[path]) {
    response.setHeader("content-type", files[path][0]);
    return response.end(files[path][1]);
  }
  const times = (asked.get(path) ?? 0) + 1;
  asked.set(path, times);
  const busy = () => response.writeHead(503).end();
  if (path.startsWith("/day/")) {
    if (times < 3) return busy();
    if (times === 3) return request.socket.resetAndDestroy();
    if (times === 4) return;
    return response.end("hello");
  }
  switch (path) {
    case "/busy":
      return busy();
    case "/hang":
      return;
    case "/half":
      if (times > 1) return response.end("whole");
      response.writeHead(200, { "content-length": 100 });
      response.write("half");
      return setTimeout(() => request.socket.resetAndDestroy(), 20);
    case "/later":
      return times > 1 ? response.end("now") : response.writeHead(503, { "retry-after": "1" }).end();
    case "/asked":
      return response.end(String(asked.get("/busy") ?? 0));
    case "/told": {
      let text = "";
      request.on("data", (part) => (text += part));
      return request.on("end", () => (response.end(), told(JSON.parse(text))));
    }
    default:
      return response.writeHead(404).end();
  }
});
await new Promise((started) => server.listen(0, "127.0.0.1", started));
const address = `http://127.0.0.1:${server.address().port}`;

const module = createRequire(import.meta.url)(resolve(node, "tests.js"));
const results = [await check("node", module, address)];
if (chromium) {
  asked.clear();
  results.push(await inBrowser());
}
server.closeAllConnections();
server.close();

for (const result of results) {
  for (const failure of result.failures) console.error(`${result.where}: ${failure}`);
  console.log(`${result.where}: ${result.passed} passed, ${result.failures.length} failed, ${result.millis} ms`);
}
// A seed, or the source of keys, that does not change from one start to the next.
const fixed = results.length > 1 && ["key", "random"].filter((name) => results[0][name] === results[1][name]);
if (fixed.length > 0) console.error(`the same in both: ${fixed}`);
process.exitCode = fixed.length > 0 || results.some((result) => result.failures.length > 0) ? 1 : 0;

async function inBrowser() {
  const profile = mkdtempSync(join(tmpdir(), "reattempt-wasm-"));
  const options = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, `${address}/`];
  const browser = spawn(chromium, options, { stdio: "ignore" });
  const ended = new Promise((end) => browser.on("exit", end));
  const silent = new Promise((_, fail) => {
    setTimeout(() => fail(new Error("Chromium said nothing for 60 s")), 60_000).unref();
    ended.then(() => fail(new Error("Chromium ended")));
  });
  silent.catch(() => {});
  try {
    return await Promise.race([new Promise((tell) => (told = tell)), silent]);
  } finally {
    browser.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 9 });
  }
}
