// The script after Pyodide's own: it gives Pyodide its files and all packages from packs, which it unpacks. `tools/lite.py` fills the constants.
{
  const PLACES = {}; // files by Pyodide's names
  const PACKAGES = []; // packages in the packs
  const load = globalThis.loadPyodide;

  function unpacked(bytes) {
    let end = bytes.indexOf(10);
    const list = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end++)));
    return list.map(([name, size]) => [name, bytes.subarray(end, (end += size))]);
  }

  function install(FS, files) {
    const folders = new Set();
    for (const [name, bytes] of files) {
      const folder = name.slice(0, name.lastIndexOf("/"));
      if (!folders.has(folder)) FS.mkdirTree(folder);
      folders.add(folder);
      FS.writeFile(name, bytes, { canOwn: true });
    }
  }

  globalThis.loadPyodide = async ({ packages, ...options }) => {
    const place = new URL(options.indexURL, location);
    // In this worker, because a separate worker never ended its wait in Firefox.
    let decoder = zstandard();
    const decoderReady = decoder.init();
    const get = async (name) => {
      const packed = await (await storedFile(new URL(PLACES[name], place).href)).arrayBuffer();
      await decoderReady;
      return decoder.decode(new Uint8Array(packed));
    };
    const plainFetch = globalThis.fetch;
    globalThis.fetch = async (request, ...rest) =>
      String(request.url ?? request) === `${place}pyodide.asm.wasm`
        ? new Response(await get("pyodide.asm.wasm"), { headers: { "Content-Type": "application/wasm" } })
        : plainFetch(request, ...rest);
    const packs = Promise.all(["python", "netlab"].map((name) => get(name).then(unpacked)));
    const script = new Blob([await get("pyodide.asm.js")], { type: "text/javascript" });
    importScripts(URL.createObjectURL(script));
    const pyodide = await load({ ...options, fsInit: async (FS) => (await packs).forEach((files) => install(FS, files)) });
    // A new decoder for later imports: the memory of WebAssembly never shrinks.
    decoder = zstandard();
    await decoder.init();
    for (const name of PACKAGES) pyodide.loadedPackages[name] = "default channel";
    let others;
    const url = new URL(PLACES.others, place).href;
    async function tidy() {
      others ??= new Uint8Array(await (await storedFile(url)).arrayBuffer());
      const currentUrls = Object.values(PLACES).map((name) => new URL(name, place).href);
      const store = await caches.open(STORE);
      for (const { url } of await store.keys()) if (url.startsWith(place) && !currentUrls.includes(url)) await store.delete(url);
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
