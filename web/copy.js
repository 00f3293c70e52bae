// What can be copied of an answer: `{ shell, view }` is the answer, `link` the address of the page with the input, if it has one.

const fences = text => '`'.repeat(Math.max(3, 1 + Math.max(0, ...(text.match(/`+/g) ?? []).map(run => run.length))));

export function markdown({ shell, view }, link) {
  const text = view.text.trim(), fence = fences(text + shell);
  return `${fence}sh\n${shell}\n${fence}\n\n${fence}text\n${text}\n${fence}\n${link ? `\n[Open in the explorer](${link})\n` : ''}`;
}

// The picture at twice its size, on white, unless that is too large for a canvas.
async function png(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    await image.decode();
    const canvas = document.createElement('canvas');
    const scale = Math.min(2, 8000 / Math.max(image.naturalWidth, image.naturalHeight));
    [canvas.width, canvas.height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

const text = text => navigator.clipboard.writeText(text);

// What each button copies, by its name. A button is shown only if the answer has what it copies.
export const COPIES = {
  link: { of: () => true, copy: (_, link) => text(link) },
  command: { of: ({ shell }) => shell, copy: ({ shell }) => text(shell) },
  markdown: { of: ({ view }) => view.text, copy: (answer, link) => text(markdown(answer, link)) },
  json: { of: ({ view }) => view.json, copy: ({ view }) => text(view.json) },
  svg: { of: ({ view }) => view.svg, copy: ({ view }) => text(view.svg) },
  png: { of: ({ view }) => view.svg, copy: ({ view }) => navigator.clipboard.write([new ClipboardItem({ 'image/png': png(view.svg) })]) },
};
