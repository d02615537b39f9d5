// The library kernel's module in a JavaScript engine: one expression, for a browser and for node.
// The first request must be there before the first run(). run() goes on until the program wants a request that is not there,
// and tells how it ended, if it has. What take() is given is memory of the program's: it is read at once.
({
  start(module, take) {
    const none = new Uint8Array();
    let requests = none;
    let read = 0;
    let ending;
    let memory;
    let bytes = none;
    // Memory that has grown is another buffer, and this one is empty.
    const seen = () => (bytes.length ? bytes : (bytes = new Uint8Array(memory.buffer)));
    class Ended extends Error {}
    const netlab = {
      read(to, most) {
        const count = Math.min(most, requests.length - read);
        seen().set(read || count < requests.length ? requests.subarray(read, read + count) : requests, to >>> 0);
        read += count;
        return count;
      },
      write(from, count) {
        take(seen().subarray(from >>> 0, (from >>> 0) + count));
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
        const left = requests.length - read;
        const all = new Uint8Array(left + data.length);
        if (left) all.set(requests.subarray(read));
        all.set(data, left);
        requests = all;
        read = 0;
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
