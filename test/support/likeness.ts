/** Match of one piece of a sound in a recording. */
export interface Piece {
  /** Offset of the piece in the recording from its place in the sound, in samples. */
  readonly lag: number
  /** Signal-to-noise ratio in dB at its original level; below 0 for a missing piece. */
  readonly snrDb: number
}

/** Share of the recording's energy at a place that the piece explains. */
const match = (recorded: Int16Array, at: number, piece: Int16Array): number => {
  let product = 0
  let power = 0
  for (let i = 0; i < piece.length; i++) {
    const sample = recorded[at + i]!
    product += sample * piece[i]!
    power += sample * sample
  }
  return power === 0 || product <= 0 ? 0 : (product * product) / power
}

const snrOf = (recorded: Int16Array, at: number, piece: Int16Array): number => {
  let signal = 0
  let noise = 1e-9
  piece.forEach((sample, i) => {
    signal += sample * sample
    noise += (sample - recorded[at + i]!) ** 2
  })
  return 10 * Math.log10(signal / noise)
}

/** Place of the best match within a range of places. */
const bestPlace = (recorded: Int16Array, piece: Int16Array, from: number, to: number): number => {
  let best = -1
  let place = from
  for (let at = Math.max(0, from); at <= Math.min(to, recorded.length - piece.length); at++) {
    const found = match(recorded, at, piece)
    if (found > best) {
      best = found
      place = at
    }
  }
  return place
}

/** Maximum shift of a piece by a jitter buffer, in ms. */
const maxShiftMs = 100

/**
 * Finds each 200 ms of `sound` in `recorded`, and measures each match sample by sample. The sound must not
 * repeat itself.
 */
export const piecesIn = (recorded: Int16Array, sound: Int16Array, rate = 8000): Piece[] => {
  const size = rate / 5
  const starts = Array.from({ length: Math.floor(sound.length / size) }, (_, index) => index * size)
  const pieceAt = (start: number): Int16Array => sound.subarray(start, start + size)
  const middle = starts[Math.floor(starts.length / 2)] ?? 0
  const late = bestPlace(recorded, pieceAt(middle), 0, recorded.length) - middle
  const shift = (rate * maxShiftMs) / 1000
  return starts.map((start) => {
    const piece = pieceAt(start)
    const place = bestPlace(recorded, piece, start + late - shift, start + late + shift)
    return { lag: place - start, snrDb: recorded.length < place + size ? -99 : snrOf(recorded, place, piece) }
  })
}

/** Share of the pieces that match with `snrDb` or more, as after a codec. */
export const sameShare = (pieces: readonly Piece[], snrDb = 30): number =>
  pieces.filter((piece) => piece.snrDb >= snrDb).length / Math.max(1, pieces.length)

/** Tone that glides from one frequency to another within `ms`, so that no part of it resembles another. */
export const sweep = (from: number, to: number, ms: number, rate = 8000, amplitude = 8000): Int16Array => {
  const seconds = ms / 1000
  return Int16Array.from({ length: Math.round(seconds * rate) }, (_, i) => {
    const t = i / rate
    return Math.round(amplitude * Math.sin(2 * Math.PI * (from + ((to - from) * t) / (2 * seconds)) * t))
  })
}
