// Return a file that has a hash in its name from this browser's own store, or fetch it and store it. A server need not say how long it
// is valid, and a hard reload fetches nothing again. Without a store (plain http, a private window) only the browser's cache helps.
const STORE = "netlab";
async function storedFile(url, onBytes = () => {}) {
  const counted = (answer) => {
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
    const count = (part, out) => (onBytes(part.length), out.enqueue(part));
    return new Response(answer.body.pipeThrough(new TransformStream({ transform: count })));
  };
  const store = await globalThis.caches?.open(STORE).catch(() => null);
  if (!store) return counted(await fetch(url));
  return navigator.locks.request(`${STORE} ${url}`, async () => {
    const found = await store.match(url);
    if (found) return counted(found);
    const parts = [];
    const answer = counted(await fetch(url));
    for (const reader = answer.body.getReader(), part = {}; !Object.assign(part, await reader.read()).done; ) parts.push(part.value);
    const whole = new Blob(parts);
    await store.put(url, new Response(whole)).catch(() => {}); // no room
    return new Response(whole);
  });
}

// Return the unpacked content of a packed file as a response.
const unzipped = (answer) => new Response(answer.body.pipeThrough(new DecompressionStream("gzip")));
