import type { DetectFinding, MachineRequest } from '../types.ts'
import { SpeechMeter } from './speech-meter.ts'
import { frameMs, type Tone, type ToneTracker } from './tone-tracker.ts'

/** Bounds of a machine's beep, in Hz and ms. Tones are measured up to 40 ms too short. */
const beepHz = { min: 390, max: 2110 }
const beepMs = { min: 60, max: 2000 }
/** Ringing tones of one frequency (ITU-T E.180): up to 450 Hz, for 0.67 s or more. */
const ringingHz = 460
const ringingMs = 620
/** Duration after which an initial tone counts as a sound from the far end. */
const initialToneMs = 100

/**
 * Distinguishes an answering machine from a person by speech pattern, and finds the end of its greeting: a
 * beep, or silence. After a silence, detection continues for as long again, because a beep may follow, or the
 * greeting may continue.
 */
export class MachineDetector {
  /** Whether no more findings will follow. */
  hasEnded = false
  #request: MachineRequest
  #report: (finding: DetectFinding) => void
  #speech = new SpeechMeter()
  #state: 'who' | 'greeting' | 'ready' = 'who'
  /** Time since the start or the last tone. */
  #emptyMs = 0

  constructor(request: MachineRequest, report: (finding: DetectFinding) => void) {
    this.#request = request
    this.#report = report
  }

  /**
   * Processes 20 ms of audio that `tones` has just processed. An undefined frame is silence. `tonal`: the
   * frame is a tone, and no voice.
   */
  update(frame: Int16Array | undefined, tonal: boolean, tones: ToneTracker): void {
    if (this.hasEnded) return
    const { ended, current } = tones
    this.#speech.update(frame, tonal)
    this.#emptyMs = current && current.ms >= initialToneMs ? 0 : this.#emptyMs + frameMs
    if (ended && isBeep(ended) && this.#speech.words > 0) this.#beep()
    // A beep is only recognised at its end.
    else if (!current || current.ms > beepMs.max) this.#step()
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
    this.hasEnded = !this.#request.waitForEnd
    this.#report({ kind: 'machine' })
  }

  /** Handles a beep after speech: the far end is a machine. */
  #beep(): void {
    if (this.#state === 'who') this.#machine()
    if (!this.hasEnded) this.#end({ kind: 'ready', beep: true })
  }

  #awaitEnd(): void {
    if (this.#speech.silentMs < this.#request.readyTimeoutMs) return
    this.#state = 'ready'
    this.#report({ kind: 'ready', beep: false })
  }

  #awaitMore(): void {
    const { silentMs } = this.#speech
    const { readyTimeoutMs } = this.#request
    if (silentMs >= 2 * readyTimeoutMs) this.hasEnded = true
    else if (silentMs < readyTimeoutMs) {
      this.#state = 'greeting'
      this.#report({ kind: 'notReady' })
    }
  }

  #end(finding: DetectFinding): void {
    this.hasEnded = true
    this.#report(finding)
  }
}

function isBeep({ frequency, ms, breaks, isFading: fades }: Tone): boolean {
  if (!fades || breaks > 1) return false
  if (frequency < beepHz.min || frequency > beepHz.max) return false
  if (ms < beepMs.min || ms > beepMs.max) return false
  return frequency > ringingHz || ms < ringingMs
}
