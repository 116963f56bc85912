// What a PNG says of itself: text and size behind its header, by the names that gapline.report.drawing gives them.

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

function crc32(bytes) {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = CRC_TABLE[(rest ^ byte) & 0xff] ^ (rest >>> 8);
  return ~rest >>> 0;
}

// Length, kind, content, and the sum over the two in the middle.
function pngChunk(kind, content) {
  const chunk = new Uint8Array(12 + content.length);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, content.length);
  chunk.set(new TextEncoder().encode(kind), 4);
  chunk.set(content, 8);
  view.setUint32(8 + content.length, crc32(chunk.subarray(4, 8 + content.length)));
  return chunk;
}

// Neither compressed nor in a language: name, five zeros, UTF-8.
function textChunk(name, text) {
  return pngChunk("iTXt", new TextEncoder().encode(`${name}\0\0\0\0\0${text.replaceAll("\0", "")}`));
}

function sizeChunk(dotsPerInch) {
  const content = new DataView(new ArrayBuffer(9));
  content.setUint32(0, Math.round(dotsPerInch / 0.0254));
  content.setUint32(4, content.getUint32(0));
  content.setUint8(8, 1);
  return pngChunk("pHYs", new Uint8Array(content.buffer));
}

// The header chunk has 13 bytes in 25, behind the eight of the signature.
const PNG_FIRST = 8 + 25;

async function describedPng(blob, named, dotsPerInch) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const chunks = [sizeChunk(dotsPerInch), ...Object.entries(named).map(([name, text]) => textChunk(name, text))];
  return new Blob([bytes.subarray(0, PNG_FIRST), ...chunks, bytes.subarray(PNG_FIRST)], { type: blob.type });
}
