import type { DetectFinding, Detection, DetectRequest } from '../types.ts'
import { guarded } from './guarded.ts'
import type { Command, PortNumber } from './protocol.ts'

/** The detections of one media thread. */
export class Detections {
  #send: (command: Command) => void
  #number: () => number
  #detections = new Map<number, EdgeDetection>()

  /** `number` gives one that was never used. */
  constructor(send: (command: Command) => void, number: () => number) {
    this.#send = send
    this.#number = number
  }

  /** How many are under way. */
  get size(): number {
    return this.#detections.size
  }

  start(port: PortNumber, request: DetectRequest): Detection {
    const detection = this.#number()
    const handle = new EdgeDetection(() => this.#send({ op: 'undetect', port, detection }))
    this.#detections.set(detection, handle)
    this.#send({ op: 'detect', port, detection, request })
    return handle
  }

  found(detection: number, finding: DetectFinding): void {
    this.#detections.get(detection)?.found(finding)
  }

  /** The thread has ended one. */
  detected(detection: number): void {
    const handle = this.#detections.get(detection)
    this.#detections.delete(detection)
    handle?.end()
  }

  /** The thread is gone. */
  die(): void {
    for (const detection of [...this.#detections.keys()]) this.detected(detection)
  }
}

/** A detection on a port that is closed: it is over at once. */
export function noDetection(): Detection {
  const detection = new EdgeDetection(() => {})
  queueMicrotask(() => detection.end())
  return detection
}

class EdgeDetection implements Detection {
  #stop: () => void
  #onFinding: ((finding: DetectFinding) => void) | undefined
  #onOver: (() => void) | undefined
  #open = true

  constructor(stop: () => void) {
    this.#stop = stop
  }

  onFinding(listener: (finding: DetectFinding) => void): void {
    this.#onFinding = listener
  }

  onOver(listener: () => void): void {
    this.#onOver = listener
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#stop()
  }

  found(finding: DetectFinding): void {
    if (this.#open) guarded(() => this.#onFinding?.(finding))
  }

  /** Nothing comes any more. Told to the listener unless it was our own wish. */
  end(): void {
    if (!this.#open) return
    this.#open = false
    guarded(() => this.#onOver?.())
  }
}
