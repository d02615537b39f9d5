// In each page of the course: fetches what the kernel needs while the chapter comes up and says how far it is, imports what
// chapters need before a cell is run, and keeps what is typed. `tools/lite.py` fills the two constants.
(() => {
  const FILES = []; // [name, bytes]
  const AHEAD = ""; // Python
  const place = new URL("../pyodide/", document.currentScript.src);
  const line = document.createElement("div");
  line.id = "netlab-loading";
  line.setAttribute("role", "status");
  line.style.cssText =
    "position:fixed;bottom:0;right:0;max-width:100%;box-sizing:border-box;padding:4px 10px;z-index:9999;" +
    "font:14px system-ui,sans-serif;background:#1b4965;color:#fff;border-radius:6px 0 0 0";

  function say(text, seconds) {
    if (!line.isConnected) document.body.append(line);
    if (line.textContent !== text) line.textContent = text;
    line.hidden = false;
    clearTimeout(say.timer);
    if (seconds) say.timer = setTimeout(() => (line.hidden = true), seconds * 1000);
  }

  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const mb = (bytes) => Math.round(bytes / 1e6);

  // The kernel finds these files in the browser's store, or waits for the one that is under way.
  async function fetchPython() {
    const all = FILES.reduce((sum, [, bytes]) => sum + bytes, 0);
    let had = 0;
    const more = (bytes) => {
      had += bytes;
      say(`Fetching Python: ${mb(had)} of ${mb(all)} MB`);
    };
    await Promise.all(FILES.map(async ([name]) => (await kept(new URL(name, place).href, more)).blob()));
  }

  function contexts() {
    const app = window.jupyterapp;
    return app?.shell ? [...app.shell.widgets("main")].map((widget) => widget.context).filter((it) => it?.model) : [];
  }

  const status = () => contexts().map((it) => it.sessionContext?.session?.kernel?.status).filter(Boolean)[0];

  async function tellUntilReady() {
    say("Starting Python ...");
    for (let waited_s = 0; waited_s < 300; waited_s += 0.5) {
      if (ready) return say("Python is ready. Your answers stay in this browser; File > Download is for handing in.", 15);
      if (waited_s > 15 && !status()) return say("Python is fetched.", 5); // no notebook is open
      await wait(500);
    }
    if (["idle", "busy"].includes(status())) return say("Python has started.", 5);
    say("Python has not started. Reload this page; if that does not help, take another browser and tell your instructor.");
  }

  // Cells that are run meanwhile wait in the kernel's queue. A restarted kernel has imported nothing.
  const begun = new WeakSet();
  const forget = (kernel, status) => status === "restarting" && begun.delete(kernel);
  let ready = false;
  async function goAhead(kernel) {
    if (kernel?.status !== "idle" || begun.has(kernel)) return;
    begun.add(kernel);
    kernel.statusChanged.connect(forget);
    const reply = kernel.requestExecute({ code: AHEAD, silent: true, store_history: false }).done;
    await reply.catch(() => {}); // restarted meanwhile
    ready = true;
  }

  // JupyterLab saves every two minutes; a tab may be closed at any moment.
  async function save(context) {
    if (!context.model.dirty || context.isDisposed) return;
    try {
      await context.save();
    } catch (error) {
      say(`This page could not be saved: ${error.message}. Download it (File > Download) before you close it.`);
    }
  }

  const watched = new WeakSet();
  function watch() {
    for (const context of contexts()) {
      goAhead(context.sessionContext?.session?.kernel);
      if (watched.has(context)) continue;
      watched.add(context);
      let timer = 0;
      context.model.contentChanged.connect(() => {
        clearTimeout(timer);
        timer = setTimeout(() => save(context), 300);
      });
    }
  }
  // On a phone the list of files would leave the chapter a finger's width.
  async function makeRoom() {
    while (!contexts().length) await wait(500);
    await window.jupyterapp.restored;
    await wait(1500); // JupyterLab shows the list once more when the chapter is open
    window.jupyterapp.shell.collapseLeft();
  }

  // A kernel in a tab hears nothing while it computes, and JupyterLite's "interrupt" does nothing.
  async function tellHowToStop() {
    while (!window.jupyterapp) await wait(500);
    window.jupyterapp.commands.commandExecuted.connect((_, { id }) => {
      if (id.includes("interrupt")) say("A running cell cannot be interrupted here. Kernel > Restart Kernel ends it; your text stays.", 15);
    });
  }
  if (innerWidth < 700) makeRoom();
  tellHowToStop();
  setInterval(watch, 500);
  for (const event of ["visibilitychange", "pagehide"]) {
    document.addEventListener(event, () => contexts().forEach(save), true);
    window.addEventListener(event, () => contexts().forEach(save), true);
  }

  fetchPython()
    .then(tellUntilReady)
    .catch((error) => say(`Python could not be fetched (${error.message}). Look at your network, then reload this page.`));
})();
