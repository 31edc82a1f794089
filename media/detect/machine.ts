import type { DetectFinding, MachineRequest } from '../types.ts'
import { SpeechMeter } from './speech-meter.ts'
import { FRAME_MS, type Tone, type ToneFollower } from './tone-follower.ts'

/** A machine's beep, in Hz and ms. What is measured of a tone is up to 40 ms shorter than it is. */
const BEEP_HZ = { least: 390, most: 2110 }
const BEEP_MS = { least: 60, most: 2000 }
/** Ringing tones of one frequency (ITU-T E.180): up to 450 Hz, for 0.67 s or more. */
const RINGING_HZ = 460
const RINGING_MS = 620
/** A tone that is heard for so long in the beginning is a sound of somebody. */
const HEARD_MS = 100

/**
 * Tells a machine that answers from a person by how it talks, and finds the end of its greeting: a beep, or silence. After a silence it listens
 * for as long again, as the beep often follows, or the greeting goes on.
 */
export class MachineDetector {
  /** Nothing more will be found. */
  over = false
  #request: MachineRequest
  #report: (finding: DetectFinding) => void
  #speech = new SpeechMeter()
  #state: 'who' | 'greeting' | 'ready' = 'who'
  /** Since the beginning, or the last tone. */
  #emptyMs = 0

  constructor(request: MachineRequest, report: (finding: DetectFinding) => void) {
    this.#request = request
    this.#report = report
  }

  /** Takes 20 ms of what `tones` has just heard; undefined is silence. */
  hear(frame: Int16Array | undefined, tonal: boolean, tones: ToneFollower): void {
    if (this.over) return
    const { ended, current } = tones
    this.#speech.update(frame, tonal)
    this.#emptyMs = current && current.ms >= HEARD_MS ? 0 : this.#emptyMs + FRAME_MS
    if (ended && isBeep(ended) && this.#speech.words > 0) this.#beep()
    // Whether it is a beep shows at its end.
    else if (!current || current.ms > BEEP_MS.most) this.#step()
  }

  #step(): void {
    if (this.#state === 'who') this.#tell()
    else if (this.#state === 'greeting') this.#awaitEnd()
    else this.#awaitMore()
  }

  #tell(): void {
    const { words, runMs, silentMs } = this.#speech
    const { voiceThresholdMs, wordsThreshold, endSilenceMs, initialTimeoutMs } = this.#request
    if (runMs >= voiceThresholdMs || words >= wordsThreshold) this.#machine()
    else if (words > 0 && silentMs >= endSilenceMs) this.#end({ kind: 'human' })
    else if (words === 0 && this.#emptyMs >= initialTimeoutMs) this.#end({ kind: 'unknown' })
  }

  #machine(): void {
    this.#state = 'greeting'
    this.over = !this.#request.waitForEnd
    this.#report({ kind: 'machine' })
  }

  /** A beep after speech: no person does that. */
  #beep(): void {
    if (this.#state === 'who') this.#machine()
    if (!this.over) this.#end({ kind: 'ready', beep: true })
  }

  #awaitEnd(): void {
    if (this.#speech.silentMs < this.#request.readyTimeoutMs) return
    this.#state = 'ready'
    this.#report({ kind: 'ready', beep: false })
  }

  #awaitMore(): void {
    const { silentMs } = this.#speech
    const { readyTimeoutMs } = this.#request
    if (silentMs >= 2 * readyTimeoutMs) this.over = true
    else if (silentMs < readyTimeoutMs) {
      this.#state = 'greeting'
      this.#report({ kind: 'notReady' })
    }
  }

  #end(finding: DetectFinding): void {
    this.over = true
    this.#report(finding)
  }
}

function isBeep({ frequency, ms, breaks, fades }: Tone): boolean {
  if (!fades || breaks > 1) return false
  if (frequency < BEEP_HZ.least || frequency > BEEP_HZ.most) return false
  if (ms < BEEP_MS.least || ms > BEEP_MS.most) return false
  return frequency > RINGING_HZ || ms < RINGING_MS
}
