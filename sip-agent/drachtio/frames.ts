/** Maximum size in bytes of a frame of an application. */
export const maxFrameBytes = 1 << 20

/** Fault in the byte stream of an application: the start of the next frame is unknown. */
export class FrameError extends Error {}

const empty = Buffer.alloc(0)

/** Splits the byte stream of an application into frames: `<decimal length>#<payload>`. */
export class FrameReader {
  #held: Buffer = empty;

  /** Takes a chunk and yields the complete payloads. Throws {@link FrameError} for a malformed stream. */
  *push(chunk: Buffer): Generator<Buffer, void> {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    for (;;) {
      const hash = this.#held.indexOf(35)
      const digits = this.#held.toString(
        'latin1',
        0,
        hash < 0 ? Math.min(this.#held.length, 8) : Math.min(hash, 8),
      )
      if (!/^[0-9]{0,7}$/.test(digits) || (hash >= 0 && digits === ''))
        throw new FrameError('bad frame length')
      if (hash < 0) return
      const length = Number(digits)
      if (length === 0 || length > maxFrameBytes) throw new FrameError('frame length out of range')
      if (this.#held.length < hash + 1 + length) return
      // A copy: a small payload must not keep the whole chunk in memory.
      const payload = Buffer.from(this.#held.subarray(hash + 1, hash + 1 + length))
      this.#held = this.#held.subarray(hash + 1 + length)
      yield payload
    }
  }
}

/** Builds a frame. */
export const makeFrame = (line: string, message?: Buffer): Buffer => {
  const head = message ? `${line}\r\n` : line
  const size = message?.length ?? 0
  const start = `${Buffer.byteLength(head) + size}#${head}`
  const written = Buffer.byteLength(start)
  const frame = Buffer.allocUnsafe(written + size)
  frame.write(start)
  message?.copy(frame, written)
  return frame
}

/** Splits a payload into its fields and the SIP message after them. */
export const splitPayload = (payload: Buffer): { fields: string[]; message: Buffer } => {
  const end = payload.indexOf('\r\n')
  const line = (end < 0 ? payload : payload.subarray(0, end)).toString('utf8')
  return { fields: line.split('|'), message: end < 0 ? empty : payload.subarray(end + 2) }
}

let last = { now: Number.NaN, text: '' }

/** Returns `HH:MM:SS.uuuuuu` in UTC, drachtio's form of a time. `now` is in ms since the epoch. */
export const timeOfDay = (now: number): string => {
  // The text is reused: at a high rate many frames have the same time.
  if (now !== last.now) last = { now, text: `${new Date(now).toISOString().slice(11, 23)}000` }
  return last.text
}
