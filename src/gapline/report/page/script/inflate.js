// The blocks of the page: base64 → zlib → byte planes → whole numbers → times and objectives.

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

async function inflate(name) {
  const node = byId("block-" + name);
  const stream = new Blob([bytesOf(node.textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  node.remove();
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
