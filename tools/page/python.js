// Behind Pyodide's own script: gives it its files and all packages out of packs, unpacked here. `tools/lite.py` fills the constants.
{
  const PLACES = {}; // what Pyodide calls a file, and the file
  const PACKAGES = []; // that the packs hold
  const load = globalThis.loadPyodide;

  function unpacked(bytes) {
    let end = bytes.indexOf(10);
    const list = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end++)));
    return list.map(([name, size]) => [name, bytes.subarray(end, (end += size))]);
  }

  function install(FS, files) {
    const made = new Set();
    for (const [name, bytes] of files) {
      const folder = name.slice(0, name.lastIndexOf("/"));
      if (!made.has(folder)) FS.mkdirTree(folder);
      made.add(folder);
      FS.writeFile(name, bytes, { canOwn: true });
    }
  }

  globalThis.loadPyodide = async ({ packages, ...options }) => {
    const place = new URL(options.indexURL, location);
    // Here in this worker: a worker of its own waited for ever in Firefox.
    let decoder = zstandard();
    const begun = decoder.init();
    const get = async (name) => {
      const packed = await (await kept(new URL(PLACES[name], place).href)).arrayBuffer();
      await begun;
      return decoder.decode(new Uint8Array(packed));
    };
    const fetched = globalThis.fetch;
    globalThis.fetch = async (what, ...how) =>
      String(what.url ?? what) === `${place}pyodide.asm.wasm`
        ? new Response(await get("pyodide.asm.wasm"), { headers: { "Content-Type": "application/wasm" } })
        : fetched(what, ...how);
    const packs = Promise.all(["python", "netlab"].map((name) => get(name).then(unpacked)));
    const script = new Blob([await get("pyodide.asm.js")], { type: "text/javascript" });
    importScripts(URL.createObjectURL(script));
    const pyodide = await load({ ...options, fsInit: async (FS) => (await packs).forEach((files) => install(FS, files)) });
    // A new one for what is imported later: the memory of WebAssembly never shrinks.
    decoder = zstandard();
    await decoder.init();
    for (const name of PACKAGES) pyodide.loadedPackages[name] = "default channel";
    let others;
    const url = new URL(PLACES.others, place).href;
    async function tidy() {
      others ??= new Uint8Array(await (await kept(url)).arrayBuffer());
      const mine = Object.values(PLACES).map((name) => new URL(name, place).href);
      const store = await caches.open(STORE);
      for (const { url } of await store.keys()) if (url.startsWith(place) && !mine.includes(url)) await store.delete(url);
    }
    setTimeout(() => tidy().catch(() => {}), 20_000); // by then the chapter has its first answer
    globalThis.netlabOthers = () => {
      if (!others) {
        const request = new XMLHttpRequest();
        request.open("GET", url, false);
        request.responseType = "arraybuffer";
        request.send();
        others = new Uint8Array(request.response);
      }
      return decoder.decode(others);
    };
    pyodide.runPython("import _others; _others.install()");
    return pyodide;
  };
}
