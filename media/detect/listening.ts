import { InbandDtmfDetector } from '../rtp/inband-dtmf-detector.ts'
import type { DetectFinding, DetectRequest } from '../types.ts'
import { CngRhythm, isCed } from './fax.ts'
import { MachineDetector } from './machine.ts'
import { ToneFollower } from './tone-follower.ts'
import { DETECT_RATE } from './tone-meter.ts'

/**
 * Listens for all that a request asks for, without sockets, clocks or threads: frames come in, which are the time as well, and findings go out, in
 * order. It is over with the first finding that says it all.
 */
export class Listening {
  /** Nothing more will be found. */
  over = false
  #request: DetectRequest
  #report: (finding: DetectFinding) => void
  #tones = new ToneFollower()
  #machine: MachineDetector | undefined
  #cng = new CngRhythm()
  #digits: InbandDtmfDetector | undefined

  constructor(request: DetectRequest, report: (finding: DetectFinding) => void) {
    this.#request = request
    this.#report = report
    const { machine, digits } = request
    if (machine) this.#machine = new MachineDetector(machine, report)
    if (digits) this.#digits = new InbandDtmfDetector(DETECT_RATE, (digit) => this.#digit(digit, digits))
  }

  /** Takes 20 ms at {@link DETECT_RATE}; undefined is silence. */
  hear(frame: Int16Array | undefined): void {
    if (this.over) return
    this.#digits?.receive(frame)
    const { fax } = this.#request
    if (this.over || !(fax || this.#machine)) return
    const tonal = this.#tones.update(frame)
    if (fax && this.#isFax(fax)) {
      this.#end({ kind: 'fax', tone: fax })
      return
    }
    this.#machine?.hear(frame, tonal, this.#tones)
    if (this.#machine?.over) this.over = true
  }

  #isFax(fax: 'CED' | 'CNG'): boolean {
    return fax === 'CED' ? isCed(this.#tones) : this.#cng.update(this.#tones)
  }

  #digit(digit: string, wanted: string): void {
    if (!this.over && wanted.includes(digit)) this.#end({ kind: 'digit', digit })
  }

  #end(finding: DetectFinding): void {
    this.over = true
    this.#report(finding)
  }
}
