// What has to come out, in node and in a browser alike.
const DAY = "503, 503, broken, timed out, hello";

export async function check(where, module, server) {
  const start = performance.now();
  const failures = [];
  let passed = 0;
  const expect = async (name, expected, actual) => {
    let came;
    try {
      came = await actual();
    } catch (error) {
      came = String(error);
    }
    if (came === expected) passed += 1;
    else failures.push(`${name}: ${came}, not ${expected}`);
  };

  await expect("attribute", DAY, () => module.attribute(server));
  await expect("runner", "hello", () => module.runner(server));
  await expect("body", "broken, whole", () => module.body(server));
  await expect("requested", "503, now, waited true", () => module.requested(server));
  await expect("own deadline", "deadline, in time true", () => module.own_deadline(server));
  await expect("inherited deadline", "has one true, deadline, in time true", () => module.inherited_deadline(server));
  await expect("time-out", "gave up after 2 attempts because all attempts are used up and the last attempt timed out", () => module.timed_out());
  await expect("event", true, async () => (await module.event_is_off_by()) < 1000);

  await expect("dropped", true, () => module.dropped(server));
  await new Promise((end) => setTimeout(end, 400));
  await expect("asked once", "1", async () => (await fetch(`${server}/asked`)).text());

  const timers = new Timers();
  await expect("long waits", false, () => module.begin_waits(60));
  await expect("its timers", "2147483647, 0 left", () => `${timers.asked}, ${timers.running.size} left`);
  timers.early = true;
  await expect("early timers", true, () => module.wait(400));
  await expect("more than one", true, () => timers.asked.length > 2);
  timers.restore();

  const key = await module.key();
  await expect("key", true, () => /^[0-9a-f-]{32,36}$/.test(key));
  const millis = Math.round(performance.now() - start);
  return { where, passed, failures, millis, key, random: module.random() };
}

/** Counts the timers of the module, not those of `fetch` in node, and may end them after half of their time. */
class Timers {
  running = new Set();
  asked = [];
  early = false;
  #set = globalThis.setTimeout;
  #clear = globalThis.clearTimeout;

  constructor() {
    globalThis.setTimeout = (callback, millis, ...others) => {
      if (others.length > 0) return this.#set.call(globalThis, callback, millis, ...others);
      this.asked.push(millis);
      const ended = () => {
        this.running.delete(id);
        callback();
      };
      const id = this.#set.call(globalThis, ended, this.early ? millis / 2 : millis);
      this.running.add(id);
      return id;
    };
    globalThis.clearTimeout = (id) => {
      this.running.delete(id);
      this.#clear.call(globalThis, id);
    };
  }

  restore() {
    globalThis.setTimeout = this.#set;
    globalThis.clearTimeout = this.#clear;
  }
}
