import { beep } from '../record/beep.ts'
import { startRecording } from '../record/recorder.ts'
import type { AudioSink } from '../rtp/audio-sinks.ts'
import type { PromptMixer } from '../rtp/prompt-mixer.ts'
import { DetectionSink } from './detection-sink.ts'
import type { PortNumber, RecordingControl, Report, SinkCommand, TapCommand } from './protocol.ts'
import { RecordingSink } from './recording-sink.ts'
import { TapSink } from './tap-sink.ts'

/** Target of sinks: a session or a mixer. */
export interface SinkTarget {
  readonly promptMixer: PromptMixer
  addSink(sink: AudioSink): void
  removeSink(sink: AudioSink): void
  /** Reports that something was added to {@link promptMixer}. */
  wake(): void
}

/** A recording from its command to its result. */
interface OpenRecording {
  port: PortNumber
  target: SinkTarget
  /** Undefined until the recorder is ready and the beep has ended. */
  sink: RecordingSink | undefined
  /** Commands received before the recorder was ready. */
  readonly early: RecordingControl[]
}

interface OpenTap {
  target: SinkTarget
  readonly sink: TapSink
}

/** Recordings, taps and detections of one media thread. */
export class SinkRegistry {
  #report: (report: Report) => void
  #recordings = new Map<number, OpenRecording>()
  #taps = new Map<number, OpenTap>()
  #detections = new Map<number, DetectionSink>()

  constructor(report: (report: Report) => void) {
    this.#report = report
  }

  /** Number of open sinks. */
  get size(): number {
    return this.#recordings.size + this.#taps.size + this.#detections.size
  }

  /** Executes a command on its port or mixer. */
  async run(command: SinkCommand, target: SinkTarget): Promise<void> {
    switch (command.op) {
      case 'record':
        return this.#record(command, target)
      case 'recording': {
        const recording = this.#recordings.get(command.record)
        if (recording?.sink) recording.sink.control(command.act)
        else recording?.early.push(command.act)
        return
      }
      case 'tap':
        this.#tap(command, target)
        return
      case 'detect':
        this.#detect(command, target)
        return
      case 'stopDetection':
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
      if (recording.port === port && !recording.sink) recording.early.push('stop')
  }

  async #record(
    { port, record, request }: Extract<SinkCommand, { op: 'record' }>,
    target: SinkTarget,
  ): Promise<void> {
    const recording: OpenRecording = { port, target, sink: undefined, early: [] }
    this.#recordings.set(record, recording)
    const recorder = await startRecording(request)
    const sink: RecordingSink = new RecordingSink(recorder, request, () => recording.target.removeSink(sink))
    const begin = () => {
      recording.sink = sink
      for (const act of recording.early) sink.control(act)
      if (!recorder.hasEnded) recording.target.addSink(sink)
    }
    if (request.beep && !recording.early.includes('stop')) {
      recording.target.promptMixer.cue(beep(8000), 8000, begin)
      recording.target.wake()
    } else begin()
    const result = await recorder.done
    recording.target.removeSink(sink)
    this.#recordings.delete(record)
    this.#report({ op: 'recorded', record, result })
  }

  /**
   * Moves a recording or tap. A recording that has not started yet will start at the new target after the
   * beep.
   */
  #move({ port, listener }: Extract<SinkCommand, { op: 'move' }>, target: SinkTarget): void {
    const recording = this.#recordings.get(listener)
    if (recording) {
      const { sink } = recording
      if (sink) recording.target.removeSink(sink)
      recording.port = port
      recording.target = target
      if (sink) target.addSink(sink)
    }
    const tap = this.#taps.get(listener)
    if (!tap) return
    tap.target.removeSink(tap.sink)
    tap.target.promptMixer.removeQueue(tap.sink.queue, tap.sink.background)
    tap.target = target
    target.promptMixer.addQueue(tap.sink.queue, tap.sink.background)
    target.addSink(tap.sink)
  }

  #tap({ tap, request }: Extract<SinkCommand, { op: 'tap' }>, target: SinkTarget): void {
    const sink = new TapSink(request, {
      onFrame: (frame) => this.#report({ op: 'frame', tap, frame }),
      onEvent: (event) => this.#report({ op: 'tapEvent', tap, event }),
      onClosed: () => this.#closeTap(tap),
    })
    this.#taps.set(tap, { target, sink })
    target.promptMixer.addQueue(sink.queue, sink.background)
    target.addSink(sink)
  }

  #toTap(command: TapCommand, target: SinkTarget): void {
    const { tap } = command
    const sink = this.#taps.get(tap)?.sink
    if (sink) {
      this.#act(command, sink, target)
      target.wake()
    } else if (command.op === 'spoken') this.#report({ op: 'spoken', tap, request: command.request })
    else if (command.op === 'cutSpeech')
      this.#report({ op: 'cut', tap, request: command.request, positions: [] })
  }

  #act(command: TapCommand, sink: TapSink, target: SinkTarget): void {
    const { tap } = command
    const { queue } = sink
    switch (command.op) {
      case 'speak':
        queue.write(command.samples, command.item)
        break
      case 'finishItem':
        queue.finish(command.item)
        break
      case 'pauseSpeech':
        queue.pause(command.fadeMs)
        break
      case 'resumeSpeech':
        queue.resume(command.fadeMs)
        break
      case 'cutSpeech':
        this.#report({ op: 'cut', tap, request: command.request, positions: queue.cut() })
        break
      case 'spoken': {
        const { request } = command
        queue.mark(() => this.#report({ op: 'spoken', tap, request }))
        break
      }
      case 'clearSpeech':
        queue.clear()
        break
      case 'setReflex':
        sink.setReflex(command.reflex)
        break
      case 'allowFade':
        sink.allowFade(command.isAllowed)
        break
      case 'background':
        sink.background.set(command.sound)
        break
      case 'closeTap':
        target.removeSink(sink)
        target.promptMixer.removeQueue(queue, sink.background)
        sink.close()
    }
  }

  #detect({ detection, request }: Extract<SinkCommand, { op: 'detect' }>, target: SinkTarget): void {
    const sink: DetectionSink = new DetectionSink(
      request,
      (finding) => this.#report({ op: 'found', detection, finding }),
      () => {
        target.removeSink(sink)
        if (this.#detections.delete(detection)) this.#report({ op: 'detectionEnded', detection })
      },
    )
    this.#detections.set(detection, sink)
    target.addSink(sink)
  }

  #closeTap(tap: number): void {
    if (this.#taps.delete(tap)) this.#report({ op: 'tapClosed', tap })
  }
}
