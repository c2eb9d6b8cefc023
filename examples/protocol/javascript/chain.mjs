// A service of a chain: chain.mjs PORT NEXT_URL[,NEXT_URL...] ATTEMPTS. Calls each NEXT_URL within
// one retry. With "-" it is dead, and with "~" every second request succeeds.
import { createServer } from 'node:http';
import { retry, send, serve } from './retry-context.mjs';

const [port, next, attempts] = process.argv.slice(2);
let count = 0;

async function call() {
  let failure;
  for (const url of next.split(',')) {
    await send(url).then((answer) => answer.text()).catch((error) => { failure = error; });
  }
  if (failure) throw failure;
}

const server = createServer(serve(async (request, response) => {
  if (request.url === '/count') return response.end(String(count));
  if (next === '-' || next === '~') {
    count += 1;
    response.statusCode = next === '~' && count % 2 === 0 ? 200 : 503;
  } else {
    await retry('call', Number(attempts), call, { base: 1 }).catch(() => { response.statusCode = 503; });
  }
  response.end();
}));
server.listen(Number(port), '127.0.0.1', () => console.log(server.address().port));
