// The library kernel's module in a JavaScript engine: one expression, for a browser and for node.
// The first request must be there before the first run(). run() goes on until the program wants a request that is not there,
// and tells how it ended, if it has. What take() is given is memory of the program's: it is read at once.
({
  start(module, take) {
    let requests = new Uint8Array();
    let ending;
    let memory;
    class Ended extends Error {}
    const netlab = {
      read(to, bytes) {
        const part = requests.subarray(0, bytes);
        new Uint8Array(memory.buffer).set(part, to >>> 0);
        requests = requests.subarray(part.length);
        return part.length;
      },
      write(from, bytes) {
        take(new Uint8Array(memory.buffer, from >>> 0, bytes));
      },
      exit(status) {
        ending = `its status is ${status}`;
        throw new Ended();
      },
    };
    const { exports } = new WebAssembly.Instance(module, { netlab });
    memory = exports.memory;
    const attempt = (call) => {
      try {
        call();
      } catch (error) {
        if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
          ending = "it crashed";
          return error.message;
        }
        if (!(error instanceof Ended)) throw error;
      }
      return null;
    };
    return {
      exports,
      send(data) {
        const all = new Uint8Array(requests.length + data.length);
        all.set(requests);
        all.set(data, requests.length);
        requests = all;
      },
      run() {
        const why = attempt(exports.run);
        if (why !== null) {
          const words = new TextEncoder().encode(`The library kernel crashed: ${why}.\n`).subarray(0, 250);
          new Uint8Array(memory.buffer).set([...words, 0], exports.reason());
          attempt(exports.crashed);
        }
        return ending;
      },
    };
  },
})
