/** A small generator with a fixed seed (mulberry32), so that a failure can be repeated. */
export const generator = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}

const pieces = [
  '\r\n',
  '\n',
  ';',
  ',',
  '"',
  '<',
  '>',
  '\\',
  ':',
  '@',
  '%',
  '[',
  ']',
  '=',
  ' ',
  '\t',
  '\0',
  'é',
  '\r\n ',
]

/** Damages a message at up to four places: cuts, inserts, repeats or overwrites. */
export const mutate = (source: Buffer, random: () => number): Buffer => {
  let bytes = Buffer.from(source)
  const count = 1 + Math.floor(random() * 4)
  for (let i = 0; i < count; i++) {
    const at = Math.floor(random() * bytes.length)
    const length = Math.floor(random() * 12)
    const kind = Math.floor(random() * 4)
    const piece = Buffer.from(pieces[Math.floor(random() * pieces.length)] as string)
    const head = bytes.subarray(0, at)
    if (kind === 0) bytes = Buffer.concat([head, bytes.subarray(at + length)])
    else if (kind === 1) bytes = Buffer.concat([head, piece, bytes.subarray(at)])
    else if (kind === 2) bytes = Buffer.concat([head, bytes.subarray(at, at + length), bytes.subarray(at)])
    else bytes[at] = Math.floor(random() * 256)
  }
  return bytes
}
