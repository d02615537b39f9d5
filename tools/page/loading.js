// The script of each page of the course: it fetches the kernel's files while the chapter appears, shows the progress, imports the
// packages of chapters before a cell is run, and stores typed text. `tools/lite.py` fills the constants.
(() => {
  const FILES = []; // [name, bytes]
  const PRELOAD = ""; // Python
  const SCRIPTS = []; // scripts of JupyterLab with a packed copy next to them
  const FIRST = ""; // chapter
  const place = new URL("../pyodide/", document.currentScript.src);
  const line = document.createElement("div");
  line.id = "netlab-loading";
  line.setAttribute("role", "status");
  // In a corner; in the middle as long as the page would be empty, without a cell and the list of files.
  const style = document.createElement("style");
  style.textContent = `
    #netlab-loading { position: fixed; bottom: 0; right: 0; max-width: 100%; box-sizing: border-box; padding: 4px 10px; z-index: 9999;
      font: 14px system-ui, sans-serif; background: #1b4965; color: #fff; border-radius: 6px 0 0 0 }
    body:not(:has(.jp-Cell, .jp-DirListing)) #netlab-loading { inset: 60% auto auto 50%; transform: translateX(-50%); width: max-content; padding: 12px 20px;
      font-size: 18px; border-radius: 6px }
    body:not(:has(.jp-Cell, .jp-DirListing)) #netlab-loading::before { content: "The page comes up. " }
    @media (prefers-color-scheme: dark) { body:not(:has(.jp-Cell, .jp-DirListing)) { background: #111 } }`;
  document.head.append(style);

  function say(text, seconds) {
    if (!line.isConnected) document.body.append(line);
    if (line.textContent !== text) line.textContent = text;
    line.hidden = false;
    clearTimeout(say.timer);
    if (seconds) say.timer = setTimeout(() => (line.hidden = true), seconds * 1000);
  }

  // JupyterLite opens what the address names, and takes the name away. It is put back, so that a reload opens the same chapter. An
  // address without one opens what this tab had open, else what this browser had open, else the first chapter.
  const OPEN = "netlab open";
  const isLab = /\/lab\/(index\.html)?$/.test(location.pathname);
  const stored = (store) => {
    try {
      return window[store];
    } catch {
      return null; // the browser forbids it
    }
  };
  function nameInAddress(path) {
    const address = new URL(location.href);
    if (address.searchParams.get("path") === path) return;
    address.searchParams.set("path", path);
    history.replaceState(history.state, "", address);
  }
  let restored = null;
  if (isLab && !new URL(location.href).searchParams.has("path")) {
    restored = stored("sessionStorage")?.getItem(OPEN) ?? stored("localStorage")?.getItem(OPEN) ?? FIRST;
    nameInAddress(restored);
  }
  function keepOpen() {
    const { shell } = window.jupyterapp ?? {};
    // Nothing is current as long as the page has no focus.
    const widget = shell?.currentWidget ?? (shell && [...shell.widgets("main")].find((each) => each.isVisible));
    const path = widget?.context?.path;
    if (!isLab || !path || !widget.context.isReady) return;
    restored = null;
    nameInAddress(path);
    for (const store of ["sessionStorage", "localStorage"]) if (stored(store)?.getItem(OPEN) !== path) stored(store)?.setItem(OPEN, path);
  }
  // The open file may have been deleted or renamed in another tab. A reload would interrupt JupyterLab's loading, and Firefox
  // then reports missing files to JupyterLab.
  let first = null;
  async function openFirst() {
    const { commands, restored: ready, shell } = window.jupyterapp;
    for (const store of ["sessionStorage", "localStorage"]) stored(store)?.removeItem(OPEN);
    const missing = restored;
    await ready;
    await commands.execute("docmanager:open", { path: FIRST });
    for (const widget of [...shell.widgets("main")]) if (widget.context?.path === missing) widget.dispose();
  }

  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const mb = (bytes) => Math.round(bytes / 1e6);

  // Scripts with a hash in their names. A script that finds its directory by its own address has no packed copy: a blob has no address.
  const smaller = new Set(SCRIPTS.map((name) => new URL(`../../${name}`, place).href));
  const source = Object.getOwnPropertyDescriptor(HTMLScriptElement.prototype, "src");
  Object.defineProperty(HTMLScriptElement.prototype, "src", {
    ...source,
    set(url) {
      const plain = new URL(url, document.baseURI).href.replace(/[?#].*/, "");
      if (!smaller.has(plain)) return source.set.call(this, url);
      fetch(`${plain}.bin`, { cache: "force-cache" })
        .then((answer) => unzipped(answer).blob())
        .then((text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" })))
        .then((blob) => source.set.call(this, blob), () => source.set.call(this, url));
    },
  });

  // The kernel finds these files in the browser's store, or waits for the one that is under way.
  async function fetchPython() {
    const all = FILES.reduce((sum, [, bytes]) => sum + bytes, 0);
    let fetchedBytes = 0;
    const more = (bytes) => {
      fetchedBytes += bytes;
      say(`Fetching Python: ${mb(fetchedBytes)} of ${mb(all)} MB`);
    };
    await Promise.all(FILES.map(async ([name]) => (await storedFile(new URL(name, place).href, more)).blob()));
  }

  function contexts() {
    const app = window.jupyterapp;
    return app?.shell ? [...app.shell.widgets("main")].map((widget) => widget.context).filter((it) => it?.model) : [];
  }

  const status = () => contexts().map((it) => it.sessionContext?.session?.kernel?.status).filter(Boolean)[0];

  async function showProgressUntilReady() {
    say("Python is fetched.");
    for (let waited_s = 0; !contexts().length; waited_s += 0.5) {
      if (waited_s === 15) say("Python is fetched. It starts when you open a chapter.", 15);
      await wait(500);
    }
    say("Starting Python ...");
    for (let waited_s = 0; waited_s < 300; waited_s += 0.5) {
      if (ready) return say("Python is ready. Your answers stay in this browser, but not in a private window. File > Download is for handing in.", 15);
      await wait(500);
    }
    if (["idle", "busy"].includes(status())) return say("Python has started.", 5);
    say("Python has not started. Reload this page; if that does not help, take another browser and tell your instructor.");
  }

  // Cells that are run meanwhile wait in the kernel's queue. A restarted kernel has imported nothing.
  const prepared = new WeakSet();
  const forget = (kernel, status) => status === "restarting" && prepared.delete(kernel);
  let ready = false;
  async function preload(kernel) {
    if (kernel?.status !== "idle" || prepared.has(kernel)) return;
    prepared.add(kernel);
    kernel.statusChanged.connect(forget);
    const reply = kernel.requestExecute({ code: PRELOAD, silent: true, store_history: false }).done;
    await reply.catch(() => {}); // restarted meanwhile
    ready = true;
  }

  // JupyterLab saves every two minutes; a tab may be closed at any moment. One save at a time: a second one would take what the
  // first writes for another user's change, and ask. Text typed during a save is not in it, though JupyterLab then says that all is saved.
  const unsaved = new WeakSet();
  const saves = new WeakMap();
  async function saveNow(context) {
    if (!unsaved.delete(context) || context.isDisposed) return;
    try {
      await context.save();
    } catch (error) {
      unsaved.add(context);
      say(`This page could not be saved: ${error.message}. Download it (File > Download) before you close it.`);
    }
  }
  const save = (context) => saves.set(context, Promise.resolve(saves.get(context)).then(() => saveNow(context)));

  // A save takes longer than a tab that is being closed has: the cells' texts are stored at once, until the next visit.
  const draft = (context) => `netlab draft ${context.path}`;
  function keepDraft(context) {
    if (!unsaved.has(context) && !context.model.dirty) return;
    const cells = context.model.sharedModel.cells.map((cell) => [cell.getId(), cell.getSource()]);
    localStorage.setItem(draft(context), JSON.stringify({ at: Date.now(), cells }));
  }
  function takeDraft(context) {
    const { at, cells } = JSON.parse(localStorage.getItem(draft(context)) ?? "{}");
    localStorage.removeItem(draft(context));
    if (!(at >= Date.parse(context.contentsModel.last_modified))) return; // another tab has saved since
    const typed = new Map(cells);
    for (const cell of context.model.sharedModel.cells) {
      const text = typed.get(cell.getId());
      if (text !== undefined && text !== cell.getSource()) cell.setSource(text);
    }
  }

  // JupyterLite has the command for handing in, and no entry of a menu for it.
  const DOWNLOAD = "docmanager:download";
  function offerDownload() {
    const { shell, commands } = window.jupyterapp ?? {};
    const file = [...(shell?.widgets("menu") ?? [])].flatMap((bar) => bar.menus ?? []).find((menu) => menu.id === "jp-mainmenu-file");
    if (file && commands.hasCommand(DOWNLOAD) && !file.items.some((item) => item.command === DOWNLOAD)) file.addItem({ command: DOWNLOAD, rank: 6 });
  }

  const watched = new WeakSet();
  function watch() {
    offerDownload();
    keepOpen();
    if (narrow.matches && !touched && contexts().length) window.jupyterapp.shell.collapseLeft();
    for (const context of contexts()) {
      preload(context.sessionContext?.session?.kernel);
      if (watched.has(context)) continue;
      watched.add(context);
      let timer = 0;
      context.model.contentChanged.connect(() => {
        if (!context.isReady || !context.model.dirty) return;
        unsaved.add(context);
        clearTimeout(timer);
        timer = setTimeout(() => save(context), 300);
      });
      context.ready.then(() => takeDraft(context));
    }
  }
  // On a narrow screen the list of files would leave the chapter almost no room, and JupyterLab opens it more than once.
  const narrow = matchMedia("(max-width: 800px)");
  let touched = false;
  narrow.addEventListener("change", () => (touched = false));
  addEventListener("pointerdown", () => (touched = true), true);

  // A notebook on disk has texts as lists of lines. Jupyter's servers join them; this page must do it, or each line would begin with a comma.
  const joined = (text) => (Array.isArray(text) && text.every((line) => typeof line === "string") ? text.join("") : text);
  function joinLines(notebook) {
    for (const output of (notebook.cells ?? []).flatMap((cell) => cell.outputs ?? [])) {
      if ("text" in output) output.text = joined(output.text);
      for (const kind of Object.keys(output.data ?? {})) output.data[kind] = joined(output.data[kind]);
    }
  }
  Object.defineProperty(window, "jupyterapp", {
    configurable: true,
    set(app) {
      Object.defineProperty(window, "jupyterapp", { value: app });
      const { contents } = app.serviceManager;
      const get = contents.get.bind(contents);
      contents.get = async (...args) => {
        const file = await get(...args).catch((error) => {
          if (!restored || restored === FIRST || args[0] !== restored) throw error;
          first ??= openFirst();
          return new Promise(() => {}); // JupyterLab would show the error in a dialog
        });
        if (file.type === "notebook" && file.content) joinLines(file.content);
        return file;
      };
    },
  });

  // A kernel in a tab hears nothing while it computes, and JupyterLite's "interrupt" does nothing.
  async function showHowToStop() {
    while (!window.jupyterapp) await wait(500);
    window.jupyterapp.commands.commandExecuted.connect((_, { id }) => {
      if (id.includes("interrupt")) say("A running cell cannot be interrupted here. Kernel > Restart Kernel ends it; your text stays.", 15);
    });
  }
  showHowToStop();
  setInterval(watch, 500);
  window.addEventListener("pagehide", () => contexts().forEach(keepDraft), true);
  for (const event of ["visibilitychange", "pagehide"]) {
    document.addEventListener(event, () => contexts().forEach(save), true);
    window.addEventListener(event, () => contexts().forEach(save), true);
  }

  fetchPython()
    .then(showProgressUntilReady)
    .catch((error) => say(`Python could not be fetched (${error.message}). Look at your network, then reload this page.`));
})();
