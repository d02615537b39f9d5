// Give figures and sliders of a page the names that Plotly and ipywidgets leave out, and answer a typed number that a slider cannot take.
(() => {
  window.netlabPage?.stop();

  const nameFigure = plot => {
    if (plot.parentElement?.closest('[role="img"]')) return;
    const words = plot.layout?.meta?.description ?? plot.layout?.title?.text?.replace(/<[^>]*>/g, ' ');
    plot.setAttribute('role', 'img');
    plot.setAttribute('aria-label', words || plot.getAttribute('aria-label') || 'Figure');
    plot.querySelectorAll(':scope > img:not([alt])').forEach(image => image.setAttribute('alt', ''));
    // A saved notebook shows a picture of the figure until the pointer comes; only the figure itself has a description.
    if (!plot.layout) plot.querySelector('img[src].plot-img')?.dispatchEvent(new MouseEvent('mouseenter'));
  };

  const nameSlider = slider => {
    const label = slider.querySelector('.widget-label');
    if (!label) return;
    label.id ||= `netlab-label-${(window.netlabLabels = (window.netlabLabels ?? 0) + 1)}`;
    slider.querySelectorAll('[role="slider"]').forEach(handle => handle.setAttribute('aria-labelledby', label.id));
    slider.querySelectorAll('.widget-readout').forEach(readout => {
      readout.setAttribute('aria-labelledby', label.id);
      if (readout.isContentEditable) readout.setAttribute('role', 'textbox');
    });
  };

  let due = false;
  const nameAll = () => {
    due = false;
    document.querySelectorAll('.js-plotly-plot, .jp-RenderedPlotly').forEach(nameFigure);
    document.querySelectorAll('.widget-slider').forEach(nameSlider);
  };
  const observer = new MutationObserver(() => {
    if (!due) {
      due = true;
      setTimeout(nameAll, 100);
    }
  });

  // The range next to a slider says why a typed number became another one; the next touch brings the range back.
  const rangeBeside = element => element.closest?.('.netlab-control')?.querySelector('.netlab-range');
  const say = (range, words) => {
    range.dataset.words ??= range.textContent;
    range.textContent = words;
    range.classList.add('netlab-refused');
  };
  const judge = event => {
    const readout = event.target;
    if (!readout.classList?.contains('widget-readout') || (event.type === 'keydown' && event.key !== 'Enter')) return;
    const range = rangeBeside(readout);
    if (!range) return;
    const typed = readout.textContent.trim();
    const [low, high, number] = [range.dataset.low, range.dataset.high, typed].map(Number.parseFloat);
    const ends = `${range.dataset.low} to ${range.dataset.high}`;
    if (Number.isNaN(number)) say(range, `${typed || 'nothing'} is not a number; allowed: ${ends}`);
    else if (typed.includes(',')) say(range, `${typed} was read as ${number}: write a point, not a comma`);
    else if (number < low || number > high) say(range, `${typed} is too ${number < low ? 'small' : 'large'}; allowed: ${ends}`);
  };
  const forget = event => {
    if (event.type === 'keydown' && event.key === 'Enter') return;
    const range = rangeBeside(event.target);
    if (range?.dataset.words === undefined) return;
    range.textContent = range.dataset.words;
    range.classList.remove('netlab-refused');
  };

  const listeners = [
    ['keydown', judge], ['focusout', judge], ['keydown', forget], ['pointerdown', forget],
  ];
  listeners.forEach(([type, listener]) => document.addEventListener(type, listener, true));
  observer.observe(document.documentElement, { childList: true, subtree: true });
  nameAll();
  window.netlabPage = {
    stop() {
      observer.disconnect();
      listeners.forEach(([type, listener]) => document.removeEventListener(type, listener, true));
    },
  };
})();
