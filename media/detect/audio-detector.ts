import { InbandDtmfDetector } from '../rtp/inband-dtmf-detector.ts'
import type { DetectFinding, DetectRequest } from '../types.ts'
import { CngRhythm, isCed } from './fax.ts'
import { MachineDetector } from './machine.ts'
import { detectRate } from './tone-meter.ts'
import { ToneTracker } from './tone-tracker.ts'

/**
 * Runs all detections of a request, without sockets, clocks or threads. Frames are its input and measure
 * time; findings are its output, in order. Ends with the first conclusive finding.
 */
export class AudioDetector {
  /** Whether no more findings will follow. */
  hasEnded = false
  #request: DetectRequest
  #report: (finding: DetectFinding) => void
  #tones = new ToneTracker()
  #machine: MachineDetector | undefined
  #cng = new CngRhythm()
  #digits: InbandDtmfDetector | undefined

  constructor(request: DetectRequest, report: (finding: DetectFinding) => void) {
    this.#request = request
    this.#report = report
    const { machine, digits } = request
    if (machine) this.#machine = new MachineDetector(machine, report)
    if (digits) this.#digits = new InbandDtmfDetector(detectRate, (digit) => this.#digit(digit, digits))
  }

  /** Processes 20 ms at {@link detectRate}; undefined is silence. */
  write(frame: Int16Array | undefined): void {
    if (this.hasEnded) return
    this.#digits?.receive(frame)
    const { fax } = this.#request
    if (this.hasEnded || !(fax || this.#machine)) return
    const tonal = this.#tones.update(frame)
    if (fax && this.#isFax(fax)) {
      this.#end({ kind: 'fax', tone: fax })
      return
    }
    this.#machine?.update(frame, tonal, this.#tones)
    if (this.#machine?.hasEnded) this.hasEnded = true
  }

  #isFax(fax: 'CED' | 'CNG'): boolean {
    return fax === 'CED' ? isCed(this.#tones) : this.#cng.update(this.#tones)
  }

  #digit(digit: string, wanted: string): void {
    if (!this.hasEnded && wanted.includes(digit)) this.#end({ kind: 'digit', digit })
  }

  #end(finding: DetectFinding): void {
    this.hasEnded = true
    this.#report(finding)
  }
}
