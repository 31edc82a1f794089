import { guard } from '../guard.ts'
import type { DetectFinding, Detection, DetectRequest } from '../types.ts'
import type { Command, PortNumber } from './protocol.ts'

/** Handles of the detections in one media thread. */
export class Detections {
  #send: (command: Command) => void
  #number: () => number
  #detections = new Map<number, EdgeDetection>()

  /** `number` returns an unused number. */
  constructor(send: (command: Command) => void, number: () => number) {
    this.#send = send
    this.#number = number
  }

  /** Number of running detections. */
  get size(): number {
    return this.#detections.size
  }

  start(port: PortNumber, request: DetectRequest): Detection {
    const detection = this.#number()
    const handle = new EdgeDetection(() => this.#send({ op: 'stopDetection', port, detection }))
    this.#detections.set(detection, handle)
    this.#send({ op: 'detect', port, detection, request })
    return handle
  }

  found(detection: number, finding: DetectFinding): void {
    this.#detections.get(detection)?.found(finding)
  }

  /** Processes the thread's report that a detection has ended. */
  ended(detection: number): void {
    const handle = this.#detections.get(detection)
    this.#detections.delete(detection)
    handle?.end()
  }

  /** Ends all detections after the death of the thread. */
  die(): void {
    for (const detection of [...this.#detections.keys()]) this.ended(detection)
  }
}

/** Returns a detection on a closed port, which ends at once. */
export function noDetection(): Detection {
  const detection = new EdgeDetection(() => {})
  queueMicrotask(() => detection.end())
  return detection
}

class EdgeDetection implements Detection {
  #stop: () => void
  #onFinding: ((finding: DetectFinding) => void) | undefined
  #onOver: (() => void) | undefined
  #isOpen = true

  constructor(stop: () => void) {
    this.#stop = stop
  }

  onFinding(listener: (finding: DetectFinding) => void): void {
    this.#onFinding = guard(listener)
  }

  onEnd(listener: () => void): void {
    this.#onOver = guard(listener)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#stop()
  }

  found(finding: DetectFinding): void {
    if (this.#isOpen) this.#onFinding?.(finding)
  }

  /** Ends the detection; calls the listener unless the owner closed it. */
  end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#onOver?.()
  }
}
