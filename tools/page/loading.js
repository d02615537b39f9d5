// In each page of the course: fetches what the kernel needs while the chapter comes up and says how far it is, and keeps
// what is typed. `tools/lite.py` puts the list of files in.
(() => {
  const FILES = []; // [name, bytes]
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

  // The kernel's own requests find these files in the browser's cache, or join the one that is under way.
  async function fetchPython() {
    const all = FILES.reduce((sum, [, bytes]) => sum + bytes, 0);
    const waiting = [...FILES];
    let had = 0;
    async function next() {
      for (let file; (file = waiting.shift()); ) {
        const answer = await fetch(new URL(file[0], place));
        if (!answer.ok) throw new Error(`${file[0]}: ${answer.status} ${answer.statusText}`);
        const reader = answer.body.getReader();
        for (let part; !(part = await reader.read()).done; ) {
          had += part.value.length;
          say(`Fetching Python: ${mb(had)} of ${mb(all)} MB`);
        }
      }
    }
    await Promise.all([next(), next(), next()]);
  }

  function contexts() {
    const app = window.jupyterapp;
    return app?.shell ? [...app.shell.widgets("main")].map((widget) => widget.context).filter((it) => it?.model) : [];
  }

  const status = () => contexts().map((it) => it.sessionContext?.session?.kernel?.status).filter(Boolean)[0];

  async function tellUntilReady() {
    say("Starting Python ...");
    for (let waited_s = 0; waited_s < 300; waited_s += 0.5) {
      if (["idle", "busy"].includes(status()))
        return say("Python is ready. Your answers stay in this browser; File > Download is for handing in.", 15);
      if (waited_s > 15 && !status()) return say("Python is fetched.", 5); // no notebook is open
      await wait(500);
    }
    say("Python has not started. Reload this page; if that does not help, take another browser and tell your instructor.");
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
  if (innerWidth < 700) makeRoom();
  setInterval(watch, 500);
  for (const event of ["visibilitychange", "pagehide"]) {
    document.addEventListener(event, () => contexts().forEach(save), true);
    window.addEventListener(event, () => contexts().forEach(save), true);
  }

  fetchPython()
    .then(tellUntilReady)
    .catch((error) => say(`Python could not be fetched (${error.message}). Look at your network, then reload this page.`));
})();
