import { pino } from 'pino'
import type { MediaPort, Mixer, MixerInputOptions, PlayRequest, Talk } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { Player } from '../audio/player.ts'
import { WaitingAudio } from '../audio/waiting-audio.ts'
import { Call } from '../call/call.ts'
import { newCallId } from '../call/ids.ts'
import { type FakeLeg, type FakePort, fakeLeg } from './fake-legs.ts'
import { FakeRecording } from './fake-listeners.ts'
import { FakeScopableCall } from './fake-scopable-call.ts'

/** Mixer that records its members. */
export class FakeMixer implements Mixer {
  readonly id = 'mixer'
  readonly members = new Map<MediaPort, MixerInputOptions>()
  readonly played: PlayRequest[] = []
  readonly recording = new FakeRecording({ path: '', format: 'wav', tracks: 'in' })
  readonly closed: Promise<void>
  /** Ends it, as its thread's death or a close does. */
  die!: () => void
  isClosed = false
  /** Reports a speaker. */
  speaks: (port: MediaPort | undefined) => void = () => {}
  /** Reports that a port begins or ends to talk. */
  talks: (port: MediaPort, talk: Talk) => void = () => {}

  constructor() {
    this.closed = new Promise((resolve) => {
      this.die = resolve
    })
  }

  get size(): number {
    return this.members.size
  }

  add(port: MediaPort, member: MixerInputOptions = {}): void {
    this.members.set(port, member)
  }

  change(port: MediaPort, member: MixerInputOptions): void {
    this.members.set(port, member)
  }

  remove(port: MediaPort): void {
    this.members.delete(port)
  }

  play(request: PlayRequest) {
    this.played.push(request)
    const nothing = () => {}
    const done = Promise.resolve('finished' as const)
    return { done, stop: nothing, pause: nothing, resume: nothing, setVolume: nothing }
  }

  onSpeaker(listener: (port: MediaPort | undefined) => void): void {
    this.speaks = listener
  }

  onTalking(listener: (port: MediaPort, talk: Talk) => void): void {
    this.talks = listener
  }

  onPacket(): () => void {
    return () => {}
  }

  record(): FakeRecording {
    return this.recording
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.die()
  }
}

/** A caller: its call, its fake verbs, and its leg. */
export interface ConferenceCaller extends FakeLeg {
  readonly call: Call
  readonly control: FakeScopableCall
  readonly audio: FakePort
}

/** Collaborators of conferences and queues, for tests. */
export class ConferenceFixture {
  readonly clock = new FakeClock()
  readonly lines: Record<string, unknown>[] = []
  readonly log = pino({ level: 'trace' }, { write: (line: string) => void this.lines.push(JSON.parse(line)) })
  readonly mixers: FakeMixer[] = []
  readonly player = new Player(
    {
      prepare: async () => ({ sampleRate: 8000, samples: new Int16Array(new SharedArrayBuffer(160)) }),
      close: async () => {},
    },
    { bytes: async () => ({ bytes: new Uint8Array() }) },
  )
  readonly waitingAudio = new WaitingAudio(this.player, this.clock, this.log)

  /** A caller of a project, not answered yet. */
  caller(projectId = 'p'): ConferenceCaller {
    const callId = newCallId()
    const made = fakeLeg(this.clock, callId)
    const control = new FakeScopableCall({ callId, projectId })
    const call = new Call({
      info: control.info,
      caller: made.leg,
      clock: this.clock,
      log: this.log,
      observer: { callEnded: () => control.end() },
      maxDurationMs: 14_400_000,
    })
    return { ...made, call, control, audio: made.port }
  }

  readonly openMixer = async (): Promise<FakeMixer> => {
    const mixer = new FakeMixer()
    this.mixers.push(mixer)
    return mixer
  }
}
