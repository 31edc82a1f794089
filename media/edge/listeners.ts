import { beep } from '../record/beep.ts'
import { startRecording } from '../record/recorder.ts'
import type { Ear } from '../rtp/ears.ts'
import type { Talk } from '../rtp/talk.ts'
import { DetectEar } from './detect-ear.ts'
import type { ListenCommand, PortNumber, RecordingAct, Report } from './protocol.ts'
import { RecordingEar } from './recording-ear.ts'
import { TapEar } from './tap-ear.ts'

/** Target of sinks: a session or a mixer. */
export interface Listened {
  readonly talk: Talk
  listen(ear: Ear): void
  unlisten(ear: Ear): void
  /** Reports that something was added to {@link promptMixer}. */
  wake(): void
}

/** A recording from its command to its result. */
interface Recording {
  port: PortNumber
  target: Listened
  /** Undefined until the recorder is ready and the beep has ended. */
  ear: RecordingEar | undefined
  /** Commands received until then. */
  readonly early: RecordingAct[]
}

interface Tap {
  target: Listened
  readonly ear: TapEar
}

/** Recordings, taps and detections of one media thread. */
export class Listeners {
  #report: (report: Report) => void
  #recordings = new Map<number, Recording>()
  #taps = new Map<number, Tap>()
  #detections = new Map<number, DetectEar>()

  constructor(report: (report: Report) => void) {
    this.#report = report
  }

  /** Number of open sinks. */
  get size(): number {
    return this.#recordings.size + this.#taps.size + this.#detections.size
  }

  /** Executes a command on its port or mixer. */
  async run(command: ListenCommand, target: Listened): Promise<void> {
    switch (command.op) {
      case 'record':
        return this.#record(command, target)
      case 'recording': {
        const recording = this.#recordings.get(command.record)
        if (recording?.ear) recording.ear.act(command.act)
        else recording?.early.push(command.act)
        return
      }
      case 'tap':
        this.#tap(command, target)
        return
      case 'detect':
        this.#detect(command, target)
        return
      case 'undetect':
        this.#detections.get(command.detection)?.close()
        return
      case 'move':
        this.#move(command, target)
        return
      default:
        this.#toTap(command, target)
    }
  }

  /** Ends the recordings of a closed port that have not started yet; they contain no audio. */
  leave(port: PortNumber): void {
    for (const recording of this.#recordings.values())
      if (recording.port === port && !recording.ear) recording.early.push('stop')
  }

  async #record(
    { port, record, request }: Extract<ListenCommand, { op: 'record' }>,
    target: Listened,
  ): Promise<void> {
    const recording: Recording = { port, target, ear: undefined, early: [] }
    this.#recordings.set(record, recording)
    const recorder = await startRecording(request)
    const ear: RecordingEar = new RecordingEar(recorder, request, () => recording.target.unlisten(ear))
    const begin = () => {
      recording.ear = ear
      for (const act of recording.early) ear.act(act)
      if (!recorder.over) recording.target.listen(ear)
    }
    if (request.beep && !recording.early.includes('stop')) {
      recording.target.talk.cue(beep(8000), 8000, begin)
      recording.target.wake()
    } else begin()
    const result = await recorder.done
    recording.target.unlisten(ear)
    this.#recordings.delete(record)
    this.#report({ op: 'recorded', record, result })
  }

  /**
   * Moves a recording or tap. A recording that has not started yet will start at the new target after the
   * beep.
   */
  #move({ port, listener }: Extract<ListenCommand, { op: 'move' }>, target: Listened): void {
    const recording = this.#recordings.get(listener)
    if (recording) {
      const { ear } = recording
      if (ear) recording.target.unlisten(ear)
      recording.port = port
      recording.target = target
      if (ear) target.listen(ear)
    }
    const tap = this.#taps.get(listener)
    if (!tap) return
    tap.target.unlisten(tap.ear)
    tap.target.talk.removeQueue(tap.ear.queue)
    tap.target = target
    target.talk.addQueue(tap.ear.queue)
    target.listen(tap.ear)
  }

  #tap({ tap, request }: Extract<ListenCommand, { op: 'tap' }>, target: Listened): void {
    const ear = new TapEar(
      request,
      (frame) => this.#report({ op: 'frame', tap, frame }),
      () => this.#closeTap(tap),
    )
    this.#taps.set(tap, { target, ear })
    target.talk.addQueue(ear.queue)
    target.listen(ear)
  }

  #toTap(
    command: Extract<ListenCommand, { op: 'speak' | 'spoken' | 'silence' | 'untap' }>,
    target: Listened,
  ): void {
    const { tap } = command
    const ear = this.#taps.get(tap)?.ear
    if (command.op === 'spoken') {
      const { request } = command
      const done = () => this.#report({ op: 'spoken', tap, request })
      if (ear) ear.queue.mark(done)
      else done()
    } else if (command.op === 'speak') {
      ear?.queue.write(command.samples)
      target.wake()
    } else if (command.op === 'silence') ear?.queue.clear()
    else if (ear) {
      target.unlisten(ear)
      target.talk.removeQueue(ear.queue)
      ear.close()
    }
  }

  #detect({ detection, request }: Extract<ListenCommand, { op: 'detect' }>, target: Listened): void {
    const ear: DetectEar = new DetectEar(
      request,
      (finding) => this.#report({ op: 'found', detection, finding }),
      () => {
        target.unlisten(ear)
        if (this.#detections.delete(detection)) this.#report({ op: 'detected', detection })
      },
    )
    this.#detections.set(detection, ear)
    target.listen(ear)
  }

  #closeTap(tap: number): void {
    if (this.#taps.delete(tap)) this.#report({ op: 'untapped', tap })
  }
}
