const lines = new Map([...document.querySelectorAll('.line button')].map(button => [button.dataset.l, button]));
const slots = new Map();
for (const slot of document.querySelectorAll('.bundle span[data-l]')) {
  if (!slots.has(slot.dataset.l)) slots.set(slot.dataset.l, []);
  slots.get(slot.dataset.l).push(slot);
}
let chosen = null;
function choose(line, from) {
  for (const old of document.querySelectorAll('.bundles .on')) old.classList.remove('on');
  if (chosen !== null) {
    lines.get(chosen).setAttribute('aria-pressed', false);
    lines.get(chosen).nextElementSibling.hidden = true;
  }
  chosen = chosen === line ? null : line;
  if (chosen === null) return;
  const button = lines.get(line), lit = slots.get(line) || [];
  button.setAttribute('aria-pressed', true);
  button.nextElementSibling.hidden = false;
  for (const slot of lit) { slot.classList.add('on'); slot.parentElement.classList.add('on'); }
  // Only the two lists scroll, not the page.
  const show = (list, item) => {
    const top = item.getBoundingClientRect().top - list.getBoundingClientRect().top;
    if (top < 0 || top > list.clientHeight - 40) list.scrollTop += top - list.clientHeight / 3;
  };
  if (from !== 'bundles' && lit.length) show(lit[0].closest('.bundles'), lit[0]);
  if (from === 'bundles') show(button.closest('.lines'), button);
}
for (const kernel of document.querySelectorAll('.kernel')) rove([...kernel.querySelectorAll('.line button')]);
for (const [line, button] of lines) button.addEventListener('click', () => choose(line, 'lines'));
for (const [line, list] of slots) {
  for (const slot of list) slot.addEventListener('click', () => { if (lines.has(line)) choose(line, 'bundles'); });
}
