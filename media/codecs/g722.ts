import { Band } from './g722-band.ts'
import {
  decisions,
  inverse2,
  inverse4,
  inverse6,
  negativeCodes,
  positiveCodes,
  qmfEven,
  qmfOdd,
  scaleSteps2,
  scaleSteps4,
} from './g722-tables.ts'

/* ITU-T G.722 at 64 kbit/s (mode 1): 16 kHz of 16 bit into one byte per two samples. A quadrature mirror
 * filter splits the sound into two bands of 4 kHz. The lower band is coded with 6 bits, the upper with 2,
 * each as the difference from its prediction. */

/** Samples before a frame that the filters read. */
const historyLength = 22
/** Maximum number of samples per pass; longer frames take several. */
const maxPassLength = 320

const limit15 = (value: number): number => Math.max(-16384, Math.min(16383, value))
const limit16 = (value: number): number => Math.max(-32768, Math.min(32767, value))

/** Encoder from 16 kHz to G.722; one per stream. */
export class G722Encoder {
  #lower = new Band('lower')
  #upper = new Band('upper')
  #line = new Int32Array(historyLength + maxPassLength)

  /**
   * Encodes `count` samples (an even number) from `from` on into `out` at `at`. Returns the number of bytes.
   */
  encode(samples: Int16Array, from: number, count: number, out: Uint8Array, at: number): number {
    const line = this.#line
    for (let done = 0; done < count; ) {
      const part = Math.min(maxPassLength, count - done)
      for (let i = 0; i < part; i++) line[historyLength + i] = samples[from + done + i]!
      for (let i = 0; i < part; i += 2) out[at++] = this.#code(i)
      line.copyWithin(0, part, part + historyLength)
      done += part
    }
    return count >> 1
  }

  /** Returns the code of two samples, whose filter begins at `start` of the line. */
  #code(start: number): number {
    const line = this.#line
    let even = 0
    let odd = 0
    for (let i = 0, at = start; i < 12; i++, at += 2) {
      even += line[at]! * qmfEven[i]!
      odd += line[at + 1]! * qmfOdd[i]!
    }
    // The shift by 14 bits removes the filter's gain (12 bits), the sum of two filters (1), and leaves the
    // bands' 15 bits (1).
    return this.#codeUpper((odd - even) >> 14) | this.#codeLower((odd + even) >> 14)
  }

  #codeLower(sample: number): number {
    const band = this.#lower
    const scale = band.scale
    const error = sample - band.prediction
    const magnitude = error < 0 ? ~error : error
    // The decision levels rise, which permits a binary search.
    let low = 1
    let high = 30
    while (low < high) {
      const middle = (low + high) >> 1
      if (magnitude < (decisions[middle]! * scale) >> 12) high = middle
      else low = middle + 1
    }
    const code = error < 0 ? negativeCodes[low]! : positiveCodes[low]!
    const coarse = code >> 2
    band.adapt(scaleSteps4[coarse]!)
    band.predict((scale * inverse4[coarse]!) >> 15)
    return code
  }

  #codeUpper(sample: number): number {
    const band = this.#upper
    const scale = band.scale
    const error = sample - band.prediction
    const magnitude = error < 0 ? ~error : error
    const outer = magnitude >= (564 * scale) >> 12
    const code = error < 0 ? (outer ? 0 : 1) : outer ? 2 : 3
    band.adapt(scaleSteps2[code]!)
    band.predict((scale * inverse2[code]!) >> 15)
    return code << 6
  }
}

/** Decoder from G.722 to 16 kHz; one per stream. */
export class G722Decoder {
  #lower = new Band('lower')
  #upper = new Band('upper')
  #line = new Int32Array(historyLength + maxPassLength)

  /** Decodes the bytes from `start` to `end` into `out`. Returns the number of samples, two per byte. */
  decode(bytes: Uint8Array, start: number, end: number, out: Int16Array): number {
    const line = this.#line
    for (let done = start; done < end; ) {
      const part = Math.min(maxPassLength >> 1, end - done)
      for (let i = 0; i < part; i++) this.#bands(bytes[done + i]!, historyLength + 2 * i)
      for (let i = 0; i < part; i++) this.#join(2 * i, out, 2 * (done - start + i))
      line.copyWithin(0, 2 * part, 2 * part + historyLength)
      done += part
    }
    return 2 * (end - start)
  }

  /** Writes the samples of both bands for one code as their sum and their difference, the filter's input. */
  #bands(code: number, at: number): void {
    const lower = this.#lower
    const fine = code & 63
    const coarse = fine >> 2
    const low = limit15(lower.prediction + ((lower.scale * inverse6[fine]!) >> 15))
    const lowStep = (lower.scale * inverse4[coarse]!) >> 15
    lower.adapt(scaleSteps4[coarse]!)
    lower.predict(lowStep)
    const upper = this.#upper
    const difference = (upper.scale * inverse2[code >> 6]!) >> 15
    const high = limit15(upper.prediction + difference)
    upper.adapt(scaleSteps2[code >> 6]!)
    upper.predict(difference)
    this.#line[at] = low + high
    this.#line[at + 1] = low - high
  }

  /** Synthesis filter; reads from `start` of the line and writes two samples. */
  #join(start: number, out: Int16Array, to: number): void {
    const line = this.#line
    let even = 0
    let odd = 0
    for (let i = 0, at = start; i < 12; i++, at += 2) {
      even += line[at]! * qmfEven[i]!
      odd += line[at + 1]! * qmfOdd[i]!
    }
    // The filter's gain less 1 bit, because the bands have 15.
    out[to] = limit16(odd >> 11)
    out[to + 1] = limit16(even >> 11)
  }
}
